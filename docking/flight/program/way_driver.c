// SPDX-License-Identifier: MIT
/* By the camera's own driver (docking/camera/driver/): its ring holds ranges, decoded in the kernel. Its node is there whether or not a
 * camera is, and what it is to do are parameters of its modules. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds325/ring.h"
#include "way.h"
#include "world.h"

enum { COME_MS = 100 }; /* a camera that is there streams by then */

struct driver {
	const char *device;
	struct ds325_ring ring;
	struct ds325_ring_frame frame;
	int fd;
	int32_t parameter[PARAMETER_COUNT]; /* as calibrate() was given them */
	bool open, away, seen; /* away: told that the camera has gone; seen: it has streamed since it was opened */
	uint64_t opened_ns;
	uint32_t connection;
	bool counting; /* a frame has come since it was opened, */
	uint32_t sequence; /* the last that came, */
	uint64_t lost, refused_before; /* what is missing since, and the ring's count then */
};

static struct driver *the(void)
{
	static struct driver driver;

	return &driver;
}

static void ready(const char *device)
{
	the()->device = device;
}

/* Written only where it is another: to the driver that may mean work. */
static bool set(const char *path, const char *text)
{
	char is[64] = { 0 };
	const size_t length = strlen(text);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = (pread(fd, is, sizeof(is) - 1, 0) > (ssize_t)length && !strncmp(is, text, length) &&
		is[length] == '\n') ||
	       pwrite(fd, text, length, 0) == (ssize_t)length;
	close(fd);
	return done;
}

static bool set_number(const char *path, int32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	return set(path, text);
}

/* All at once: one value may be possible with another only. */
static bool set_calibration(const struct driver *driver)
{
	const int32_t *parameter = driver->parameter;
	char text[64];

	snprintf(text, sizeof(text), "%d %d %d %d", parameter[PARAMETER_CONFIDENCE], parameter[PARAMETER_OFFSET_UM],
		 parameter[PARAMETER_DRIFT_UM_PER_K], parameter[PARAMETER_TEMPERATURE_MC]);
	return set("/sys/module/ds325_ring/parameters/calibration", text);
}

static bool calibrate(const int32_t parameter[PARAMETER_COUNT])
{
	struct driver *driver = the();

	memcpy(driver->parameter, parameter, sizeof(driver->parameter));
	return !driver->open || set_calibration(driver);
}

static bool open_it(int32_t rate, int32_t exposure)
{
	struct driver *driver = the();

	if (!set_calibration(driver) || !set_number("/sys/module/ds325_usb/parameters/rate", rate) ||
	    !set_number("/sys/module/ds325_usb/parameters/exposure", exposure))
		return false;
	driver->fd = open(driver->device, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* which makes the camera stream */
	if (driver->fd < 0)
		return false;
	/* Poses need ranges along each pixel's ray. */
	if (ds325_ring_map(&driver->ring, driver->fd) || driver->ring.header->format != DS325_RING_RANGE_U16) {
		ds325_ring_unmap(&driver->ring);
		close(driver->fd);
		return false;
	}
	driver->open = true;
	driver->away = driver->seen = driver->counting = false;
	driver->lost = 0;
	driver->opened_ns = now_ns();
	return true;
}

static void close_it(void)
{
	ds325_ring_unmap(&the()->ring);
	close(the()->fd);
	the()->open = false;
}

/* A camera's coming and going wakes nobody; the ring's header says it. */
static enum ds325_event look(struct driver *driver)
{
	const struct ds325_ring_header *header = driver->ring.header;
	const bool there = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == DS325_RING_STREAMING;
	const uint32_t connection = __atomic_load_n(&header->connections, __ATOMIC_RELAXED);

	if (driver->away) {
		if (!there)
			return DS325_TIMEOUT;
		driver->away = false;
		driver->seen = true;
		driver->connection = connection;
		return DS325_BACK;
	}
	if (there && !driver->seen) {
		driver->seen = true;
		driver->connection = connection;
	}
	if (driver->seen ? !there || connection != driver->connection :
			   now_ns() - driver->opened_ns > COME_MS * 1000000ull) {
		driver->away = true;
		while (!there && ds325_ring_take(&driver->ring, DS325_RING_NEXT, &driver->frame))
			; /* what it left behind is no sign of it */
		return DS325_GONE;
	}
	return DS325_TIMEOUT;
}

/* The driver numbers the frames that it saw begin, and those that it missed: a gap is what is lost, damaged, or was
 * written over before it was read here. */
static void number(struct driver *driver)
{
	const uint32_t sequence = driver->frame.sequence;

	if (!driver->counting)
		driver->refused_before = __atomic_load_n(&driver->ring.header->refused, __ATOMIC_RELAXED);
	else if ((int32_t)(sequence - driver->sequence) > 0) /* what does not rise is no count of frames */
		driver->lost += sequence - driver->sequence - 1;
	driver->counting = true;
	driver->sequence = sequence;
}

static enum ds325_event next(int timeout_ms, struct picture *picture)
{
	struct driver *driver = the();
	const enum ds325_event event = look(driver);

	if (event != DS325_TIMEOUT)
		return event;
	if (!ds325_ring_take(&driver->ring, DS325_RING_NEXT, &driver->frame)) {
		if (ds325_ring_wait(&driver->ring, timeout_ms) < 0 && errno != EINTR)
			return DS325_FAILED;
		if (!ds325_ring_take(&driver->ring, DS325_RING_NEXT, &driver->frame))
			return DS325_TIMEOUT;
	}
	*picture = (struct picture){ .time_ns = driver->frame.frame_end_ns, .ended_ns = driver->frame.frame_end_ns };
	return DS325_FRAME;
}

/* Copied, since the driver waits for nobody: what is written over meanwhile must reach no pose. */
static bool decode(struct picture *picture, const struct ds325_planes *planes)
{
	struct driver *driver = the();

	memcpy(planes->ranges, driver->frame.ranges, DS325_PIXELS * sizeof(*planes->ranges));
	if (!ds325_ring_kept(&driver->ring, &driver->frame))
		return false;
	number(driver);
	picture->bytes = planes->ranges;
	picture->octets = DS325_PIXELS * sizeof(*planes->ranges);
	return true;
}

static bool release(void)
{
	return true;
}

static void count(uint64_t *lost, uint32_t *refused)
{
	const struct driver *driver = the();

	*lost = driver->lost;
	*refused = driver->counting ? (uint32_t)(driver->ring.header->refused - driver->refused_before) : 0;
}

const struct way way_driver = {
	"/dev/ds325-0", false, ready, calibrate, open_it, close_it, next, decode, release, count
};
