// SPDX-License-Identifier: MIT
/* ds325-flight: the depth camera under telecommands. All memory is taken here. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

enum { PARCELS = 64, WORDS = 256, STACK = 256 * 1024 };

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* By the system call: musl's function does nothing, since the call is for a thread where POSIX means the process. */
void become_realtime(const struct world *world, int priority)
{
	const struct sched_param parameters = { .sched_priority = priority };

	if (!world->options.no_realtime && syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &parameters))
		die(RUN_FAILED, "SCHED_FIFO priority %d (be root, or use --no-realtime): %s", priority,
		    strerror(errno));
}

void wake(int eventfd)
{
	const uint64_t one = 1;

	while (write(eventfd, &one, sizeof(one)) < 0 && errno == EINTR)
		; /* where it is full, it is awake */
}

void wait_for(int eventfd, int timeout_ms)
{
	struct pollfd polled = { .fd = eventfd, .events = POLLIN };
	uint64_t woken;

	if (poll(&polled, 1, timeout_ms) > 0 && read(eventfd, &woken, sizeof(woken)) < 0)
		return;
}

bool tell(struct world *world, enum told_by by, enum word word, uint32_t value, uint32_t detail)
{
	struct told *told = queue_room(&world->told[by]);

	if (!told)
		return false;
	*told = (struct told){ word, value, detail };
	queue_put(&world->told[by]);
	wake(world->wake_commands);
	return true;
}

static void *memory(size_t count, size_t octets)
{
	void *taken = calloc(count, octets);

	if (!taken)
		die(RUN_FAILED, "no memory for %zu times %zu bytes", count, octets);
	return taken;
}

static void queue_ready(struct queue *queue, uint32_t count, size_t octets)
{
	*queue = (struct queue){ .count = count, .octets = (uint32_t)octets, .records = memory(count, octets) };
}

static void snapshot_ready(struct snapshot *snapshot, size_t octets)
{
	snapshot->words = (uint32_t)(octets / sizeof(uint32_t));
	snapshot->word = memory(snapshot->words, sizeof(uint32_t));
}

static int eventfd_ready(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		die(RUN_FAILED, "eventfd: %s", strerror(errno));
	return fd;
}

static void begin(struct world *world, void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	error = pthread_create(&thread, &attributes, function, world);
	if (error)
		die(RUN_FAILED, "a thread: %s", strerror(error));
	pthread_attr_destroy(&attributes);
}

/* On the ground, with the key. One that is lowered would let recorded telecommands run again. */
static void keep_first_counter(const struct options *options)
{
	struct counter copy[COUNTER_COPIES];
	uint64_t kept;

	counter_read(options->state, copy);
	if (counter_get(copy, &kept) != COUNTER_LOST && kept > (uint64_t)options->counter)
		die(BAD_INPUT,
		    "--counter=%lld: %s.counter1 to %d keep %llu, and it is not lowered; for another key remove them",
		    (long long)options->counter, options->state, COUNTER_COPIES, (unsigned long long)kept);
	if (!counter_write(options->state, (uint64_t)options->counter))
		die(RUN_FAILED, "--state=%s: its counter could not be kept: %s", options->state, strerror(errno));
}

int main(int argc, char **argv)
{
	static struct world world;
	static struct kept kept;
	enum cause cause;
	bool known;

	read_options(&world.options, argc, argv);
	if (world.options.counter >= 0) {
		keep_first_counter(&world.options);
		return 0;
	}
	queue_ready(&world.up, PARCELS, sizeof(struct parcel));
	queue_ready(&world.down, 8 * PARCELS, sizeof(struct parcel));
	for (int by = 0; by < TOLD_BY; by++)
		queue_ready(&world.told[by], WORDS, sizeof(struct told));
	snapshot_ready(&world.orders, sizeof(struct orders));
	snapshot_ready(&world.kept, sizeof(struct kept));
	snapshot_ready(&world.seen, sizeof(struct camera_seen));
	snapshot_ready(&world.counter, sizeof(uint64_t));
	world.wake_commands = eventfd_ready();
	world.wake_link = eventfd_ready();
	world.wake_camera = eventfd_ready();
	world.wake_supervisor = eventfd_ready();
	supervisor_ready(&world);
	tag_ready(&world);
	camera_ready(&world);
	link_ready(&world);
	known = keep_read(world.options.state, &kept, &cause);
	commands_ready(&world, known ? &kept : NULL, supervisor_cause(cause));
	if (!world.options.no_realtime && mlockall(MCL_CURRENT | MCL_FUTURE))
		die(RUN_FAILED, "locking memory (be root, or use --no-realtime): %s", strerror(errno));
	begin(&world, link_thread);
	begin(&world, commands_thread);
	begin(&world, camera_thread);
	begin(&world, control_thread);
	supervise(&world, argv);
	return 0;
}
