/* SPDX-License-Identifier: GPL-2.0 */
/* A DS325 that is plugged in: its transfers, and the thread that owns them. */
#ifndef DS325_CAMERA_H
#define DS325_CAMERA_H

#include <linux/usb.h>

#include "node.h"
#include "payload.h"

enum {
	DS325_TRANSFERS = 8,
	DS325_STREAMING_INTERFACE = 1,
	DS325_PROBE_BYTES = 34, /* UVC 1.1, table 4-75 */
};

/* The module's parameters, for all cameras; those that may be written later hold from the next opening on. */
struct ds325_settings {
	unsigned int rate; /* frames a second; may be written later */
	int mode, exposure; /* -1: unchanged; exposure may be written later */
	bool in_completion; /* decode in the transfers' completion instead of in the thread */
};

struct camera;

struct transfer {
	struct camera *camera;
	struct urb *urb;
	u64 ended_ns;
};

/* A node, and the state that it keeps until the next camera comes. */
struct place {
	struct ds325_node node;
	struct ds325_payload payload; /* used by the camera's thread or by its completions */
};

struct camera {
	const struct ds325_settings *settings;
	struct usb_device *device;
	struct usb_interface *control, *streaming;
	unsigned int pipe;
	struct place *place;
	struct task_struct *thread;
	u8 *request; /* DS325_PROBE_BYTES, in memory that USB can transfer */

	struct transfer transfers[DS325_TRANSFERS];
	atomic_t completed; /* transfers completed since streaming began; they complete in order */
	unsigned int taken; /* of these */
	unsigned int running; /* for which ds325_node_wanted(); 0: not at all */
	bool broken; /* a transfer failed */
	bool unfit; /* its answers are not a DS325's; set until it is unplugged */
	unsigned int failures; /* in a row */
};

/* The thread of `data`, a camera: streams while its node is open. */
int ds325_camera_thread(void *data);
/* The completion of the camera's transfers. */
void ds325_camera_completed(struct urb *urb);

#endif
