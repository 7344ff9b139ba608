/* SPDX-License-Identifier: MIT */
/* Linux's virtual USB host controller (vhci_hcd): plugs a socket into this machine as a device. */
#ifndef EMULATOR_VHCI_H
#define EMULATOR_VHCI_H

#include "descriptors.h"

/* Returns our end of the connection; dies with a line that says what is missing. `fifo`: the controller's threads run at
 * this real-time priority; 0: as they are. */
int vhci_attach(enum speed speed, int fifo);

#endif
