// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for the DS325 that hands out ranges, not frames: bulk transfers are decoded where the host controller put
 * them, straight into a ring that programs map. No raw frame is copied.
 *
 * The camera streams while its node is open. docs/docking/camera-driver.md.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/usb.h>
#include <uapi/linux/sched/types.h>
#include <uapi/linux/usb/video.h>

#include "camera.h"

static unsigned int cameras = 1;
module_param(cameras, uint, 0444);
MODULE_PARM_DESC(cameras, "nodes to make, 1 to 8");
static unsigned int slots = 8;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "frames in a ring, a power of two");
static struct ds325_settings settings = { .rate = 60, .mode = -1, .exposure = -1 };
static int set_rate(const char *text, const struct kernel_param *parameter);
static const struct kernel_param_ops rate_ops = { .set = set_rate, .get = param_get_uint };
module_param_cb(rate, &rate_ops, &settings.rate, 0644);
MODULE_PARM_DESC(rate, "frames a second: 25, 30, 50 or 60; from the next opening on");
module_param_named(in_completion, settings.in_completion, bool, 0444);
MODULE_PARM_DESC(in_completion, "decode in the transfers' completion instead of in a thread");
module_param_named(mode, settings.mode, int, 0444);
MODULE_PARM_DESC(mode, "0 close, 1 long range; -1 leaves it");
module_param_named(exposure, settings.exposure, int, 0644);
MODULE_PARM_DESC(exposure, "per cent; -1 leaves it; from the next opening on");
static unsigned int priority = 70;
module_param(priority, uint, 0444);
MODULE_PARM_DESC(priority, "SCHED_FIFO priority of the decoding thread");

enum {
	CAMERAS_MOST = 8,
	/*
	 * A frame is four transfers and 12,290 bytes. Few transfers, since each costs the USB host as much time as 8
	 * KiB of data; and a short last one, so that little is left to decode when it has come. 1.9 frames are in
	 * flight.
	 */
	TRANSFER_BYTES = 72 * 1024,
};

static struct place *places;
static struct usb_driver ds325_driver;

static u64 clock(void)
{
	return ktime_get_ns();
}

static void free_camera(struct camera *camera)
{
	for (int one = 0; one < DS325_TRANSFERS; one++) {
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
	camera->settings = &settings;
	camera->device = interface_to_usbdev(control);
	camera->control = control;
	camera->streaming = streaming;
	camera->pipe = usb_rcvbulkpipe(camera->device, endpoint->bEndpointAddress);
	camera->request = kzalloc(DS325_PROBE_BYTES, GFP_KERNEL);
	if (!camera->request)
		goto failed;
	for (int one = 0; one < DS325_TRANSFERS; one++) {
		struct transfer *transfer = &camera->transfers[one];
		void *buffer;

		transfer->camera = camera;
		transfer->urb = usb_alloc_urb(0, GFP_KERNEL);
		if (!transfer->urb)
			goto failed;
		buffer = kmalloc(TRANSFER_BYTES, GFP_KERNEL);
		if (!buffer)
			goto failed;
		usb_fill_bulk_urb(transfer->urb, camera->device, camera->pipe, buffer, TRANSFER_BYTES,
				  ds325_camera_completed, transfer);
	}
	return camera;
failed:
	free_camera(camera);
	return NULL;
}

/*
 * The first node without a camera gets this camera; its ring goes on where the last camera left it. The thread may run
 * at once.
 */
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
		.size = sizeof(fifo),
		.sched_policy = SCHED_FIFO,
		.sched_priority = priority,
	};
	int error;

	camera->thread = kthread_create(ds325_camera_thread, camera, "ds325-%s", dev_name(&camera->device->dev));
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
	struct usb_interface *streaming = usb_ifnum_to_if(device, DS325_STREAMING_INTERFACE);
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

/* Called for both interfaces, in either order; the first call takes everything down. */
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
	usb_driver_release_interface(&ds325_driver, interface == camera->control ? camera->streaming : camera->control);
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

static int set_rate(const char *text, const struct kernel_param *parameter)
{
	unsigned int rate;
	int error = kstrtouint(text, 0, &rate);

	if (error || !offered(rate)) {
		pr_err("ds325: rate=%.16s: 25, 30, 50 or 60\n", text);
		return -EINVAL;
	}
	WRITE_ONCE(settings.rate, rate);
	return 0;
}

static int __init ds325_init(void)
{
	unsigned int made;
	char name[24];
	int error = 0;

	if (!cameras || cameras > CAMERAS_MOST || !priority || priority > 98) {
		pr_err("ds325: cameras=%u priority=%u: 1 to 8; 1 to 98\n", cameras, priority);
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
		places[made].payload.blocks = settings.in_completion ? ds325_node_blocks_atomic : ds325_node_blocks;
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
