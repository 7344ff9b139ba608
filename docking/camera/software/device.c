// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "device.h"
#include "random.h"
#include "usbip.h"

enum { END_OF_HEADER = 0x80, HEADER_ERROR = 0x40, END_OF_FRAME = 0x02 };

static void send_parts(struct device *device, const struct iovec *parts, int count)
{
	if (!device->gone && device->send(device->with, parts, count))
		device->gone = true;
}

static void answer(struct device *device, uint32_t number, int status, const void *data, uint32_t length)
{
	uint8_t header[USBIP_HEADER];
	struct iovec parts[2] = { { header, sizeof(header) }, { (void *)data, length } };

	usbip_answer_submit(header, number, status, length);
	send_parts(device, parts, data && length ? 2 : 1);
}

static struct urb take_waiting(struct device *device)
{
	struct urb urb = device->waiting[device->first];

	device->first = (device->first + 1) % URBS;
	device->count--;
	return urb;
}

/* A halted endpoint answers every transfer like this. */
static void refuse_waiting(struct device *device)
{
	while (device->count)
		answer(device, take_waiting(device).number, -EPIPE, NULL, 0);
}

static void unlink_urb(struct device *device, const struct usbip_request *request)
{
	uint8_t header[USBIP_HEADER];
	struct iovec part = { header, sizeof(header) };
	int status = 0; /* not waiting here: its answer is on the way */

	for (unsigned int i = 0; i < device->count; i++) {
		if (device->waiting[(device->first + i) % URBS].number != request->unlinked)
			continue;
		for (; i + 1 < device->count; i++)
			device->waiting[(device->first + i) % URBS] = device->waiting[(device->first + i + 1) % URBS];
		device->count--;
		status = -ECONNRESET;
	}
	usbip_answer_unlink(header, request->number, status);
	send_parts(device, &part, 1);
}

static void control(struct device *device, const struct usbip_request *request)
{
	uint8_t data[CONTROL_MOST];
	uint32_t length = request->length < CONTROL_MOST ? request->length : CONTROL_MOST;
	bool in = request->setup[0] & 0x80;
	int done;

	if (!in && request->data)
		memcpy(data, request->data, length);
	else if (!in)
		length = 0;
	done = camera_control(&device->camera, request->setup, data, length);
	device->log->control_requests = device->camera.requests;
	device->log->unit_requests = device->camera.unit_requests;
	answer(device, request->number, done < 0 ? done : 0, in ? data : NULL, done < 0 ? 0 : (uint32_t)done);
}

static void submit(struct device *device, const struct usbip_request *request)
{
	if (!request->endpoint)
		control(device, request);
	else if (request->endpoint != (DS325_ENDPOINT & 15) || !request->in || device->camera.halted)
		answer(device, request->number, -EPIPE, NULL, 0);
	else if (device->count == URBS)
		answer(device, request->number, -ENOSR, NULL, 0);
	else
		device->waiting[(device->first + device->count++) % URBS] = (struct urb){ request->number,
											  request->length };
}

void device_plug(struct device *device)
{
	const struct settings *settings = device->settings;

	camera_start(&device->camera, settings->speed, settings->wrong, settings->confidence);
	device->first = device->count = 0;
	device->transfer.active = false;
	device->running = device->leaving = device->gone = device->unplugged = false;
	device->why = NULL;
	device->log->plugs++;
}

int device_receive(struct device *device, const uint8_t *bytes, uint32_t size)
{
	struct usbip_request request;
	uint32_t taken = 0;
	int step;

	while ((step = usbip_parse(bytes + taken, size - taken, &request, &device->why)) > 0) {
		if (request.command == USBIP_UNLINK)
			unlink_urb(device, &request);
		else
			submit(device, &request);
		taken += (uint32_t)step;
	}
	if (step < 0)
		return step;
	return device->gone ? -EPIPE : (int)taken;
}

/* The same places for the same frame, so that a test knows them. */
static const uint8_t *corrupted(struct device *device, const uint8_t *body, uint32_t bytes, uint64_t sequence,
				uint32_t count)
{
	struct random random;

	memcpy(device->scratch, body, bytes);
	random_seed(&random, 0, sequence);
	for (uint32_t i = 0; i < count; i++)
		device->scratch[random_next(&random) % bytes] ^= 0x5a;
	return device->scratch;
}

static void begin(struct device *device, uint64_t now_ns)
{
	const struct camera *camera = &device->camera;
	struct transfer *transfer = &device->transfer;
	uint64_t sequence = device->log->sequence++;
	struct fault fault = faults_take(device->faults, sequence);
	uint32_t bytes = camera_frame_bytes(camera);

	*transfer = (struct transfer){
		.active = true,
		.header = { DS325_PAYLOAD_HEADER, END_OF_HEADER | END_OF_FRAME | device->frame_id },
		.body_bytes = bytes,
		.not_before_ns = now_ns,
		.entry = { .sequence = sequence,
			   .frame = (uint32_t)(sequence % device->frames->count),
			   .fault = fault.kind,
			   .outcome = SENT,
			   .due_ns = device->due_ns,
			   .begun_ns = now_ns },
	};
	if (fault.kind == FAULT_DROP || fault.kind == FAULT_STALL) {
		transfer->active = false;
		transfer->entry.outcome = DROPPED;
		device->camera.halted = fault.kind == FAULT_STALL;
		log_add(device->log, &transfer->entry);
		return;
	}
	device->frame_id ^= 1;
	transfer->body = frames_get(device->frames, sequence, camera_format(camera), camera_gain(camera),
				    camera->registers[REGISTER_CONFIDENCE], now_ns);
	if (device->settings->stamp) {
		transfer->stamp_bytes = sizeof(transfer->stamp);
		transfer->body_bytes -= transfer->stamp_bytes;
		transfer->stamp = (struct ds325_stamp){
			.magic = DS325_STAMP_MAGIC,
			.sequence = (uint32_t)sequence,
			.due_late_us = (uint32_t)((now_ns - device->due_ns) / 1000),
		};
	}
	switch (fault.kind) {
	case FAULT_SHORT: /* the stamp, if any, is in the missing part */
		transfer->stamp_bytes = 0;
		transfer->body_bytes = bytes - (fault.argument < bytes ? fault.argument : bytes);
		break;
	case FAULT_CORRUPT:
		transfer->body = corrupted(device, transfer->body, transfer->body_bytes, sequence, fault.argument);
		break;
	case FAULT_ERROR:
		transfer->header[1] |= HEADER_ERROR;
		break;
	case FAULT_HEADER:
		transfer->header[0] = 255;
		break;
	case FAULT_LATE:
		transfer->not_before_ns = now_ns + fault.argument * 1000000ull;
		break;
	case FAULT_UNPLUG:
		transfer->cut_at = bytes / 2;
		device->replug_ms = fault.argument;
		break;
	default:
		break;
	}
	transfer->readout_ns = transfer->not_before_ns;
}

/* Describes bytes `from` to `from + length` of the payload as parts; returns how many parts. */
static int payload_parts(struct transfer *transfer, uint32_t from, uint32_t length, struct iovec parts[3])
{
	struct iovec whole[3] = { { transfer->header, sizeof(transfer->header) },
				  { (void *)transfer->body, transfer->body_bytes },
				  { &transfer->stamp, transfer->stamp_bytes } };
	int count = 0;

	for (int i = 0; i < 3; i++) {
		if (from < whole[i].iov_len && length) {
			uint32_t size = (uint32_t)whole[i].iov_len - from;

			size = size < length ? size : length;
			parts[count++] = (struct iovec){ (uint8_t *)whole[i].iov_base + from, size };
			length -= size;
			from = 0;
		} else {
			from -= (uint32_t)whole[i].iov_len;
		}
	}
	return count;
}

/* When the next transfer may go: no earlier than its last line is read out. */
static uint64_t ready_ns(const struct device *device)
{
	const struct transfer *transfer = &device->transfer;
	uint32_t line_bytes = camera_frame_bytes(&device->camera) / DS325_HEIGHT;
	uint64_t bytes, lines, read_ns;

	if (!device->settings->line_rate || !device->count)
		return transfer->not_before_ns;
	bytes = (uint64_t)transfer->sent + device->waiting[device->first].length;
	lines = bytes / line_bytes + !!(bytes % line_bytes);
	lines = lines < DS325_HEIGHT ? lines : DS325_HEIGHT;
	read_ns = transfer->readout_ns + lines * 1000000000 / device->settings->line_rate;
	return read_ns > transfer->not_before_ns ? read_ns : transfer->not_before_ns;
}

static void finish(struct device *device, uint64_t now_ns)
{
	struct transfer *transfer = &device->transfer;

	transfer->active = false;
	transfer->entry.sent_ns = now_ns;
	device->log->bytes += transfer->sent;
	log_add(device->log, &transfer->entry);
}

static void send_slice(struct device *device, uint64_t (*clock)(void))
{
	struct transfer *transfer = &device->transfer;
	uint32_t total = DS325_PAYLOAD_HEADER + transfer->body_bytes + transfer->stamp_bytes;
	struct urb urb = take_waiting(device);
	uint32_t left = total - transfer->sent;
	uint32_t length = left < urb.length ? left : urb.length;
	uint8_t header[USBIP_HEADER];
	struct iovec parts[4] = { { header, sizeof(header) } };
	bool last = length == left;
	int count;

	if (last && transfer->stamp_bytes)
		transfer->stamp.sent_ns = clock();
	usbip_answer_submit(header, urb.number, 0, length);
	count = payload_parts(transfer, transfer->sent, length, parts + 1);
	send_parts(device, parts, 1 + count);
	transfer->sent += length;
	/* The host recognises the end by a short transfer, or when the payload has its largest size. */
	transfer->ends_open = last && length && length == urb.length &&
			      total < DS325_PAYLOAD_HEADER + camera_frame_bytes(&device->camera);
	if (last && !transfer->ends_open)
		finish(device, clock());
}

static void send_frame(struct device *device, uint64_t now_ns, uint64_t (*clock)(void))
{
	struct transfer *transfer = &device->transfer;

	while (transfer->active && device->count && now_ns >= ready_ns(device) && !device->gone) {
		if (!transfer->sent)
			transfer->entry.begun_ns = now_ns;
		send_slice(device, clock);
		if (device->settings->bus_mb_s)
			transfer->not_before_ns = transfer->entry.begun_ns +
						  transfer->sent * 1000ull / device->settings->bus_mb_s;
		if (transfer->cut_at && transfer->sent >= transfer->cut_at) {
			transfer->entry.outcome = CUT;
			finish(device, clock());
			device->unplugged = true;
		}
	}
}

/* Counts the frames that came due while the previous frame was still in the camera. */
static void lose_overrun(struct device *device, uint64_t now_ns, uint64_t interval_ns)
{
	while (device->transfer.active && device->due_ns <= now_ns) {
		struct log_entry entry = { .sequence = device->log->sequence++,
					   .outcome = LOST_NO_URB,
					   .due_ns = device->due_ns };

		entry.frame = (uint32_t)(entry.sequence % device->frames->count);
		entry.fault = faults_take(device->faults, entry.sequence).kind;
		log_add(device->log, &entry);
		device->due_ns += interval_ns;
	}
}

static void stop(struct device *device, uint64_t now_ns)
{
	device->running = false;
	if (device->transfer.active) {
		device->transfer.entry.outcome = CUT;
		finish(device, now_ns);
	}
}

static bool finished(const struct device *device)
{
	return device->leaving || (device->settings->count && device->log->sequence >= device->settings->count);
}

uint64_t device_pump(struct device *device, uint64_t now_ns, uint64_t (*clock)(void))
{
	struct transfer *transfer = &device->transfer;
	uint64_t interval_ns = camera_interval_ns(&device->camera);
	bool streaming = device->camera.streaming && !device->camera.halted;
	uint64_t wake_ns;

	/* The first frame is due when the host first waits for one. */
	if (streaming && !device->running && device->count) {
		device->running = true;
		device->due_ns = now_ns;
		device->log->streams++;
	}
	if (!streaming)
		stop(device, clock());
	while (device->running && !device->camera.halted) {
		send_frame(device, now_ns, clock);
		if (device->unplugged || device->gone)
			break;
		if (device->settings->unthrottled) {
			if (transfer->active || !device->count || finished(device))
				break;
			device->due_ns = now_ns;
			begin(device, now_ns);
			continue;
		}
		lose_overrun(device, now_ns, interval_ns);
		if (transfer->active || device->due_ns > now_ns || finished(device))
			break;
		begin(device, now_ns);
		device->due_ns += interval_ns;
	}
	if (device->camera.halted) {
		stop(device, clock());
		refuse_waiting(device);
	}
	wake_ns = transfer->active && ready_ns(device) > now_ns ? ready_ns(device) : UINT64_MAX;
	if (!device->running || device->settings->unthrottled || (finished(device) && !transfer->active))
		return wake_ns;
	return wake_ns < device->due_ns ? wake_ns : device->due_ns;
}
