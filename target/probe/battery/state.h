/* SPDX-License-Identifier: MIT */
/* The state of the battery, which images carry: rtqual's own hash of it (engine/candidates/sources.py). A test compares. */
#ifndef RTQUAL_STATE_H
#define RTQUAL_STATE_H

#define RTQUAL_BATTERY "9ad66d61423769b4"

#endif
