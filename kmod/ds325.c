// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for the DS325 that hands out ranges, not frames: bulk transfers are decoded where the host controller put
 * them, straight into a ring that programs map. No raw frame is copied.
 *
 * One thread a camera owns its transfers, from the first that is submitted to the last that is killed; completions only
 * tell it. The camera streams while its node is open. docs/lidar.md, "Kernel path".
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/usb.h>
#include <uapi/linux/sched/types.h>
#include <uapi/linux/usb/video.h>

#include "node.h"
#include "payload.h"

static unsigned int cameras = 1;
module_param(cameras, uint, 0444);
MODULE_PARM_DESC(cameras, "nodes to make, 1 to 8");
static unsigned int slots = 8;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "frames in a ring, a power of two");
static unsigned int rate = 60;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "frames a second: 25, 30, 50 or 60");
static unsigned int priority = 70;
module_param(priority, uint, 0444);
MODULE_PARM_DESC(priority, "SCHED_FIFO priority of the decoding thread");
static bool in_completion;
module_param(in_completion, bool, 0444);
MODULE_PARM_DESC(in_completion, "decode in the transfers' completion instead of in a thread");
static int mode = -1, exposure = -1;
module_param(mode, int, 0444);
MODULE_PARM_DESC(mode, "0 close, 1 long range; -1 leaves it");
module_param(exposure, int, 0444);
MODULE_PARM_DESC(exposure, "per cent; -1 leaves it");

enum {
	CAMERAS_MOST = 8,
	/*
	 * Four transfers and 12,290 bytes are a frame: few, since each costs the USB host as much as 8 KiB, and little is left
	 * to decode when the last has come. 1.9 frames are in flight.
	 */
	TRANSFER_BYTES = 72 * 1024,
	TRANSFERS = 8,
	CONTROL_MS = 500,
	RETRY_LEAST_MS = 2,
	RETRY_MOST_MS = 200,

	STREAMING_INTERFACE = 1,
	PROBE_BYTES = 34, /* UVC 1.1, table 4-75 */
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

struct camera;

struct transfer {
	struct camera *camera;
	struct urb *urb;
	u64 ended_ns;
};

/* A node, and what it goes on with when the next camera comes. */
struct place {
	struct ds325_node node;
	struct ds325_payload payload; /* the camera's thread's; or its completions' */
};

struct camera {
	struct usb_device *device;
	struct usb_interface *control, *streaming;
	unsigned int pipe;
	struct place *place;
	struct task_struct *thread;
	u8 *request; /* PROBE_BYTES, of memory that can be transferred */

	struct transfer transfers[TRANSFERS];
	atomic_t completed; /* transfers since they were submitted first; they come back in order */
	unsigned int taken; /* of these */
	bool running;
	bool broken; /* a transfer failed */
	bool unfit; /* its answers are not a DS325's: until it is unplugged */
	unsigned int failures; /* in a row */
};

static struct place *places;
static struct usb_driver ds325_driver;

static u64 clock(void)
{
	return ktime_get_ns();
}

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
				   STREAMING_INTERFACE, camera->request, PROBE_BYTES, CONTROL_MS);

	return done == PROBE_BYTES ? 0 : done < 0 ? done : -EPROTO;
}

static int write_register(struct camera *camera, u16 number, int value)
{
	const u8 request[DS325_CONTROL_BYTES] = { UNIT_WRITE, number, number >> 8, value, value >> 8 };

	if (value < 0)
		return 0;
	memcpy(camera->request, request, sizeof(request));
	return set_current(camera, DS325_UNIT, DS325_SELECTOR, camera->control, sizeof(request));
}

/* Ask for I and Q at our rate, and look at what the camera makes of it. After it the stream is on. */
static int negotiate(struct camera *camera)
{
	u8 *probe = camera->request;
	u32 payload_bytes, interval;
	int error;

	memset(probe, 0, PROBE_BYTES);
	probe[0] = 1; /* keep the interval */
	probe[PROBE_FORMAT] = DS325_FORMAT_IQ;
	probe[PROBE_FRAME] = 1;
	put_u32(probe + PROBE_INTERVAL, 10000000 / rate);
	error = set_current(camera, 0, UVC_VS_PROBE_CONTROL, camera->streaming, PROBE_BYTES);
	if (!error)
		error = get_probe(camera);
	if (error)
		return error;
	payload_bytes = get_u32(probe + PROBE_PAYLOAD_BYTES);
	interval = get_u32(probe + PROBE_INTERVAL);
	if (probe[PROBE_FORMAT] != DS325_FORMAT_IQ ||
	    get_u32(probe + PROBE_FRAME_BYTES) != DS325_FRAME_BYTES || payload_bytes < 64 ||
	    payload_bytes > PAYLOAD_MOST || interval < 10000 || interval > 10000000) {
		dev_err(&camera->control->dev, "it does not send frames of %d bytes: not used\n", DS325_FRAME_BYTES);
		camera->unfit = true;
		return -EINVAL;
	}
	camera->place->payload.most = payload_bytes;
	camera->place->payload.interval_ns = 100ull * interval;
	return set_current(camera, 0, UVC_VS_COMMIT_CONTROL, camera->streaming, PROBE_BYTES);
}

/* --- transfers ---------------------------------------------------------------------------------------- */

/* In a thread, or in the completion: never both, since the thread takes nothing from transfers that went well then. */
static void take(struct camera *camera, const struct transfer *transfer)
{
	const struct urb *urb = transfer->urb;

	if (ds325_payload_take(&camera->place->payload, urb->transfer_buffer, urb->actual_length,
			       urb->actual_length < urb->transfer_buffer_length, transfer->ended_ns))
		ds325_node_published(&camera->place->node);
	camera->failures = 0;
}

static void completed(struct urb *urb)
{
	struct transfer *transfer = urb->context;
	struct camera *camera = transfer->camera;

	transfer->ended_ns = ktime_get_ns();
	if (in_completion) {
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

/* What the thread does with a transfer; its buffer goes back to the bus at once. */
static void handle(struct camera *camera, struct transfer *transfer)
{
	if (camera->broken || in_completion)
		return;
	if (transfer->urb->status) {
		camera->broken = true;
		return;
	}
	take(camera, transfer);
	camera->broken = usb_submit_urb(transfer->urb, GFP_KERNEL);
}

static int start(struct camera *camera)
{
	int error = write_register(camera, REGISTER_MODE, mode);

	if (!error)
		error = write_register(camera, REGISTER_EXPOSURE, exposure);
	if (!error)
		error = negotiate(camera);
	if (error)
		return error;
	atomic_set(&camera->completed, 0);
	camera->taken = 0;
	camera->broken = false;
	camera->running = true;
	WRITE_ONCE(camera->place->node.ring->state, DS325_RING_STREAMING);
	for (int one = 0; one < TRANSFERS && !error; one++)
		error = usb_submit_urb(camera->transfers[one].urb, GFP_KERNEL);
	if (error)
		WRITE_ONCE(camera->broken, true);
	return 0;
}

static void stop(struct camera *camera, bool fault)
{
	for (int one = 0; one < TRANSFERS; one++)
		usb_kill_urb(camera->transfers[one].urb);
	ds325_payload_break(&camera->place->payload, fault);
	camera->running = false;
	/* This ends a bulk stream, and a stall; of a camera that is gone it fails, which changes nothing. */
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

/* Is there something to do now? */
static bool due(struct camera *camera)
{
	bool wanted = ds325_node_wanted(&camera->place->node) && !camera->unfit;

	return kthread_should_stop() || wanted != camera->running ||
	       (camera->running && (READ_ONCE(camera->broken) ||
				    camera->taken != (unsigned int)atomic_read_acquire(&camera->completed)));
}

static void work(struct camera *camera)
{
	bool wanted = ds325_node_wanted(&camera->place->node) && !camera->unfit;

	while (camera->running && camera->taken != (unsigned int)atomic_read_acquire(&camera->completed))
		handle(camera, &camera->transfers[camera->taken++ % TRANSFERS]);
	if (camera->running && READ_ONCE(camera->broken)) {
		stop(camera, wanted);
		nap(camera); /* before an unplug is known, transfers fail already */
	} else if (camera->running && !wanted) {
		stop(camera, false);
	} else if (!camera->running && wanted && start(camera)) {
		nap(camera);
	}
}

static int camera_thread(void *data)
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

/* --- coming and going ----------------------------------------------------------------------------------- */

static void free_camera(struct camera *camera)
{
	for (int one = 0; one < TRANSFERS; one++) {
		struct urb *urb = camera->transfers[one].urb;

		if (urb)
			kfree(urb->transfer_buffer);
		usb_free_urb(urb);
	}
	kfree(camera->request);
	kfree(camera);
}

static struct camera *make_camera(struct usb_interface *control, struct usb_interface *streaming,
				  const struct usb_endpoint_descriptor *endpoint)
{
	struct camera *camera = kzalloc(sizeof(*camera), GFP_KERNEL);

	if (!camera)
		return NULL;
	camera->device = interface_to_usbdev(control);
	camera->control = control;
	camera->streaming = streaming;
	camera->pipe = usb_rcvbulkpipe(camera->device, endpoint->bEndpointAddress);
	camera->request = kzalloc(PROBE_BYTES, GFP_KERNEL);
	if (!camera->request)
		goto failed;
	for (int one = 0; one < TRANSFERS; one++) {
		struct transfer *transfer = &camera->transfers[one];
		void *buffer;

		transfer->camera = camera;
		transfer->urb = usb_alloc_urb(0, GFP_KERNEL);
		if (!transfer->urb)
			goto failed;
		buffer = kmalloc(TRANSFER_BYTES, GFP_KERNEL);
		if (!buffer)
			goto failed;
		usb_fill_bulk_urb(transfer->urb, camera->device, camera->pipe, buffer, TRANSFER_BYTES, completed, transfer);
	}
	return camera;
failed:
	free_camera(camera);
	return NULL;
}

/* The first node without a camera gets this one: the ring goes on where the last left it. The thread may run at once. */
static int attach(struct camera *camera)
{
	for (unsigned int one = 0; one < cameras; one++) {
		camera->place = &places[one];
		if (ds325_node_attach(&places[one].node, camera->thread))
			return 0;
	}
	dev_err(&camera->control->dev, "all %u nodes have cameras: load the module with more\n", cameras);
	return -EBUSY;
}

static int make_thread(struct camera *camera)
{
	const struct sched_attr fifo = {
		.size = sizeof(fifo), .sched_policy = SCHED_FIFO, .sched_priority = priority,
	};
	int error;

	camera->thread = kthread_create(camera_thread, camera, "ds325-%s", dev_name(&camera->device->dev));
	if (IS_ERR(camera->thread))
		return PTR_ERR(camera->thread);
	error = sched_setattr_nocheck(camera->thread, &fifo);
	if (!error)
		error = attach(camera);
	if (error)
		kthread_stop(camera->thread); /* it never ran */
	return error;
}

static int ds325_probe(struct usb_interface *control, const struct usb_device_id *id)
{
	struct usb_device *device = interface_to_usbdev(control);
	struct usb_interface *streaming = usb_ifnum_to_if(device, STREAMING_INTERFACE);
	struct usb_endpoint_descriptor *endpoint;
	struct camera *camera;
	int error;

	if (!streaming || streaming->cur_altsetting->desc.bInterfaceClass != USB_CLASS_VIDEO ||
	    usb_find_bulk_in_endpoint(streaming->cur_altsetting, &endpoint) || !usb_endpoint_maxp(endpoint) ||
	    TRANSFER_BYTES % usb_endpoint_maxp(endpoint)) {
		dev_err(&control->dev, "no bulk endpoint for frames: not used\n");
		return -ENODEV;
	}
	camera = make_camera(control, streaming, endpoint);
	if (!camera)
		return -ENOMEM;
	error = usb_driver_claim_interface(&ds325_driver, streaming, camera);
	if (error)
		goto free;
	error = make_thread(camera);
	if (error)
		goto release;
	usb_set_intfdata(control, camera);
	dev_info(&control->dev, "its ranges are at /dev/%s\n", camera->place->node.name);
	wake_up_process(camera->thread);
	return 0;
release:
	usb_set_intfdata(streaming, NULL);
	usb_driver_release_interface(&ds325_driver, streaming);
free:
	free_camera(camera);
	return error;
}

/* Comes for both interfaces, in either order; the first takes all down. */
static void ds325_disconnect(struct usb_interface *interface)
{
	struct camera *camera = usb_get_intfdata(interface);

	if (!camera)
		return;
	usb_set_intfdata(camera->control, NULL);
	usb_set_intfdata(camera->streaming, NULL);
	get_task_struct(camera->thread); /* open() may wake it until the node knows that it is gone */
	kthread_stop(camera->thread);
	ds325_node_attach(&camera->place->node, NULL);
	put_task_struct(camera->thread);
	usb_driver_release_interface(&ds325_driver,
				     interface == camera->control ? camera->streaming : camera->control);
	free_camera(camera);
}

static const struct usb_device_id ds325_ids[] = {
	{ USB_DEVICE_AND_INTERFACE_INFO(DS325_USB_VENDOR, DS325_USB_PRODUCT, USB_CLASS_VIDEO, UVC_SC_VIDEOCONTROL, 0) },
	{}
};
MODULE_DEVICE_TABLE(usb, ds325_ids);

static struct usb_driver ds325_driver = {
	.name = "ds325",
	.probe = ds325_probe,
	.disconnect = ds325_disconnect,
	.id_table = ds325_ids,
};

static void remove_nodes(unsigned int count)
{
	while (count--)
		ds325_node_remove(&places[count].node);
	kfree(places);
}

static bool offered(unsigned int frames_a_second)
{
	return frames_a_second == 25 || frames_a_second == 30 || frames_a_second == 50 || frames_a_second == 60;
}

static int __init ds325_init(void)
{
	unsigned int made;
	char name[24];
	int error = 0;

	if (!cameras || cameras > CAMERAS_MOST || !offered(rate) || !priority || priority > 98) {
		pr_err("ds325: cameras=%u rate=%u priority=%u: 1 to 8; 25, 30, 50 or 60; 1 to 98\n", cameras, rate, priority);
		return -EINVAL;
	}
	places = kcalloc(cameras, sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;
	for (made = 0; made < cameras && !error; made += !error) {
		snprintf(name, sizeof(name), "ds325-%u", made);
		error = ds325_node_make(&places[made].node, name, slots, THIS_MODULE, NULL);
		places[made].payload.ring = places[made].node.ring;
		places[made].payload.decoder = ds325_node_decoder();
		places[made].payload.blocks = in_completion ? ds325_node_blocks_atomic : ds325_node_blocks;
		places[made].payload.clock = clock;
	}
	if (error)
		pr_err("ds325: no node with slots=%u: %d\n", slots, error);
	else
		error = usb_register(&ds325_driver);
	if (error)
		remove_nodes(made);
	return error;
}

static void __exit ds325_exit(void)
{
	usb_deregister(&ds325_driver);
	remove_nodes(cameras);
}

module_init(ds325_init);
module_exit(ds325_exit);
MODULE_DESCRIPTION("SoftKinetic DS325: depth frames decoded into a ring");
MODULE_LICENSE("GPL");
