/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_LOADED_H
#define RTQUAL_LOADED_H

#include "battery.h"

extern const struct benchmark loaded_benchmarks[];

#endif
