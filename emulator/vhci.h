/* SPDX-License-Identifier: MIT */
/* Linux's virtual USB host controller (vhci_hcd): plugs a socket in as a device, in this machine. */
#ifndef EMULATOR_VHCI_H
#define EMULATOR_VHCI_H

#include "descriptors.h"

/* Returns our end of the connection; dies with a line on what is missing. */
int vhci_attach(enum speed speed);

#endif
