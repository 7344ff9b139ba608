// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live.h"
#include "options.h"

static void *room(size_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		die(RUN_FAILED, "no memory for %zu bytes", bytes);
	memset(memory, 1, bytes); /* there now: the board writes where pages are */
	return memory;
}

void live_begin(struct live *live, const struct options *options, const struct lens *lens)
{
	long long bytes;
	int file = open_file("the steered target ", options->steered, &bytes);
	void *steered;

	if (bytes != sizeof(struct steered))
		die(BAD_INPUT,
		    "the steered target %s has %lld bytes, %zu are needed: it is made by the program that steers",
		    options->steered, bytes, sizeof(struct steered));
	steered = mmap(NULL, sizeof(struct steered), PROT_READ, MAP_SHARED, file, 0);
	if (steered == MAP_FAILED)
		die(RUN_FAILED, "the steered target %s: %s", options->steered, strerror(errno));
	close(file);
	*live = (struct live){ .steered = steered,
			       .lens = lens,
			       .hits = room(sizeof(*live->hits) * DS325_PIXELS),
			       .step_s = options->step_s,
			       .request = room(sizeof(*live->request)) };
	live->request->k1 = options->k1;
	live->request->k2 = options->k2;
	live->request->sensor = options->sensor;
	live->request->scene = options->scene;
	live->request->scene.waypoint_count = 1;
}

void live_end(struct live *live)
{
	free(live->hits);
	free(live->request);
}

/* Where the target is now; as it was a moment ago, where it is just being told anew. */
static void look(const struct steered *steered, uint64_t now_ns, struct pose *pose)
{
	for (int tries = 0; tries < 1000; tries++) {
		const uint32_t turn = atomic_load(&steered->turn);
		const struct vector p = steered->position, v = steered->velocity;
		const double s = (double)(int64_t)(now_ns - steered->at_ns) / 1e9;
		const struct pose seen = { { p.x + s * v.x, p.y + s * v.y, p.z + s * v.z }, steered->attitude };

		atomic_thread_fence(memory_order_acquire);
		if (turn % 2 == 0 && atomic_load(&steered->turn) == turn) {
			*pose = seen;
			return;
		}
	}
}

static void ask(struct live_request *request)
{
	request->made = 0;
#ifdef __x86_64__
	__asm__ volatile("movl %1, %c2(%0)"
			 :
			 : "a"((uintptr_t)&request->asked - LIVE_FROM), "i"(LIVE_ASKED), "i"(LIVE_FROM)
			 : "memory");
#endif
}

const uint8_t *live_frame(struct live *live, uint64_t number, uint64_t now_ns)
{
	struct live_request *request = live->request;

	look(live->steered, now_ns, &request->scene.waypoints[0].pose);
	request->number = number;
	request->time_s = (double)number * live->step_s;
	ask(request);
	if (!request->made)
		sensor_frame(&request->sensor, live->lens, &request->scene, request->time_s, number, live->hits,
			     request->frame, NULL);
	return request->frame;
}
