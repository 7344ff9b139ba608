// SPDX-License-Identifier: GPL-2.0
/*
 * Each camera has one thread that owns its transfers, from the first that is submitted to the last that is killed;
 * completions only wake it.
 */
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/usb.h>
#include <uapi/linux/usb/video.h>

#include "camera.h"

enum {
	CONTROL_MS = 500,
	RETRY_LEAST_MS = 2,
	RETRY_MOST_MS = 200,

	PROBE_FORMAT = 2,
	PROBE_FRAME = 3,
	PROBE_INTERVAL = 4,
	PROBE_FRAME_BYTES = 18,
	PROBE_PAYLOAD_BYTES = 22,
	PAYLOAD_MOST = 1 << 24,

	UNIT_WRITE = 0x12,
	REGISTER_MODE = 0x50,
	REGISTER_EXPOSURE = 0x52,
};

static u32 get_u32(const u8 *at)
{
	__le32 value;

	memcpy(&value, at, sizeof(value));
	return le32_to_cpu(value);
}

static void put_u32(u8 *at, u32 number)
{
	__le32 value = cpu_to_le32(number);

	memcpy(at, &value, sizeof(value));
}

/* --- control requests --------------------------------------------------------------------------------- */

static int set_current(struct camera *camera, u8 unit, u8 selector, const struct usb_interface *interface, u16 bytes)
{
	u16 index = unit << 8 | interface->cur_altsetting->desc.bInterfaceNumber;
	int done = usb_control_msg(camera->device, usb_sndctrlpipe(camera->device, 0), UVC_SET_CUR,
				   USB_TYPE_CLASS | USB_RECIP_INTERFACE | USB_DIR_OUT, selector << 8, index,
				   camera->request, bytes, CONTROL_MS);

	return done == bytes ? 0 : done < 0 ? done : -EPROTO;
}

static int get_probe(struct camera *camera)
{
	int done = usb_control_msg(camera->device, usb_rcvctrlpipe(camera->device, 0), UVC_GET_CUR,
				   USB_TYPE_CLASS | USB_RECIP_INTERFACE | USB_DIR_IN, UVC_VS_PROBE_CONTROL << 8,
				   DS325_STREAMING_INTERFACE, camera->request, DS325_PROBE_BYTES, CONTROL_MS);

	return done == DS325_PROBE_BYTES ? 0 : done < 0 ? done : -EPROTO;
}

static int write_register(struct camera *camera, u16 number, int value)
{
	const u8 request[DS325_CONTROL_BYTES] = { UNIT_WRITE, number, number >> 8, value, value >> 8 };

	if (value < 0)
		return 0;
	memcpy(camera->request, request, sizeof(request));
	return set_current(camera, DS325_UNIT, DS325_SELECTOR, camera->control, sizeof(request));
}

/* Ask for I and Q at our rate, and check the camera's answer. Afterwards the stream is on. */
static int negotiate(struct camera *camera)
{
	u8 *probe = camera->request;
	u32 payload_bytes, interval;
	int error;

	memset(probe, 0, DS325_PROBE_BYTES);
	probe[0] = 1; /* keep the interval */
	probe[PROBE_FORMAT] = DS325_FORMAT_IQ;
	probe[PROBE_FRAME] = 1;
	put_u32(probe + PROBE_INTERVAL, 10000000 / READ_ONCE(camera->settings->rate));
	error = set_current(camera, 0, UVC_VS_PROBE_CONTROL, camera->streaming, DS325_PROBE_BYTES);
	if (!error)
		error = get_probe(camera);
	if (error)
		return error;
	payload_bytes = get_u32(probe + PROBE_PAYLOAD_BYTES);
	interval = get_u32(probe + PROBE_INTERVAL);
	if (probe[PROBE_FORMAT] != DS325_FORMAT_IQ || get_u32(probe + PROBE_FRAME_BYTES) != DS325_FRAME_BYTES ||
	    payload_bytes < 64 || payload_bytes > PAYLOAD_MOST || interval < 10000 || interval > 10000000) {
		dev_err(&camera->control->dev, "it does not send frames of %d bytes: not used\n", DS325_FRAME_BYTES);
		camera->unfit = true;
		return -EINVAL;
	}
	camera->place->payload.most = payload_bytes;
	camera->place->payload.interval_ns = 100ull * interval;
	return set_current(camera, 0, UVC_VS_COMMIT_CONTROL, camera->streaming, DS325_PROBE_BYTES);
}

/* --- transfers ---------------------------------------------------------------------------------------- */

/*
 * Runs in the thread or in the completion, never in both: with `in_completion` the thread skips transfers that
 * succeeded.
 */
static void take(struct camera *camera, const struct transfer *transfer)
{
	const struct urb *urb = transfer->urb;

	if (ds325_payload_take(&camera->place->payload, urb->transfer_buffer, urb->actual_length,
			       urb->actual_length < urb->transfer_buffer_length, transfer->ended_ns))
		ds325_node_published(&camera->place->node);
	camera->failures = 0;
}

void ds325_camera_completed(struct urb *urb)
{
	struct transfer *transfer = urb->context;
	struct camera *camera = transfer->camera;

	transfer->ended_ns = ktime_get_ns();
	if (camera->settings->in_completion) {
		if (!urb->status) {
			take(camera, transfer);
			if (!usb_submit_urb(urb, GFP_ATOMIC))
				return;
		}
		WRITE_ONCE(camera->broken, true);
	}
	atomic_inc_return_release(&camera->completed);
	wake_up_process(camera->thread);
}

/* The thread's work on a transfer; its buffer goes back to the bus at once. */
static void handle(struct camera *camera, struct transfer *transfer)
{
	if (camera->broken || camera->settings->in_completion)
		return;
	if (transfer->urb->status) {
		camera->broken = true;
		return;
	}
	take(camera, transfer);
	camera->broken = usb_submit_urb(transfer->urb, GFP_KERNEL);
}

static int start(struct camera *camera, unsigned int wanted)
{
	int error = write_register(camera, REGISTER_MODE, camera->settings->mode);

	if (!error)
		error = write_register(camera, REGISTER_EXPOSURE, READ_ONCE(camera->settings->exposure));
	if (!error)
		error = negotiate(camera);
	if (error)
		return error;
	atomic_set(&camera->completed, 0);
	camera->taken = 0;
	camera->broken = false;
	camera->running = wanted;
	WRITE_ONCE(camera->place->node.ring->state, DS325_RING_STREAMING);
	for (int one = 0; one < DS325_TRANSFERS && !error; one++)
		error = usb_submit_urb(camera->transfers[one].urb, GFP_KERNEL);
	if (error)
		WRITE_ONCE(camera->broken, true);
	return 0;
}

static void stop(struct camera *camera, bool fault)
{
	for (int one = 0; one < DS325_TRANSFERS; one++)
		usb_kill_urb(camera->transfers[one].urb);
	ds325_payload_break(&camera->place->payload, fault);
	camera->running = 0;
	/* This ends a bulk stream, and a stall. It fails if the camera is gone, which does not matter. */
	usb_clear_halt(camera->device, camera->pipe);
}

static void nap(struct camera *camera)
{
	unsigned int ms = RETRY_LEAST_MS << min(camera->failures, 8u);

	camera->failures++;
	set_current_state(TASK_IDLE);
	if (!kthread_should_stop())
		schedule_timeout(msecs_to_jiffies(min_t(unsigned int, ms, RETRY_MOST_MS)));
	__set_current_state(TASK_RUNNING);
}

/* The stream that is asked for: whoever closes the node and opens it anew gets a new one. */
static unsigned int wanted_now(struct camera *camera)
{
	return camera->unfit ? 0 : ds325_node_wanted(&camera->place->node);
}

/* Is there work for the thread? */
static bool due(struct camera *camera)
{
	unsigned int wanted = wanted_now(camera);

	return kthread_should_stop() || wanted != camera->running ||
	       (camera->running &&
		(READ_ONCE(camera->broken) || camera->taken != (unsigned int)atomic_read_acquire(&camera->completed)));
}

static void work(struct camera *camera)
{
	unsigned int wanted = wanted_now(camera);

	while (camera->running && camera->taken != (unsigned int)atomic_read_acquire(&camera->completed))
		handle(camera, &camera->transfers[camera->taken++ % DS325_TRANSFERS]);
	if (camera->running && READ_ONCE(camera->broken)) {
		stop(camera, wanted);
		nap(camera); /* transfers fail even before the unplug is reported */
	} else if (camera->running && wanted != camera->running) {
		stop(camera, false);
	} else if (!camera->running && wanted && start(camera, wanted)) {
		nap(camera);
	}
}

int ds325_camera_thread(void *data)
{
	struct camera *camera = data;
	struct ds325_ring_header *ring = camera->place->node.ring;

	WRITE_ONCE(ring->connections, ring->connections + 1);
	for (;;) {
		set_current_state(TASK_IDLE);
		if (!due(camera))
			schedule();
		__set_current_state(TASK_RUNNING);
		if (kthread_should_stop())
			break;
		work(camera);
	}
	if (camera->running)
		stop(camera, false);
	WRITE_ONCE(ring->state, DS325_RING_NO_CAMERA);
	return 0;
}
