// SPDX-License-Identifier: MIT
/* The commands' thread: it owns what flight.h describes, and hears from all others. */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

static uint64_t tai_ns(void)
{
	struct timespec now;

	/* CLOCK_TAI would need to be told the leap seconds first. */
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec < 0 ? 0 : ((uint64_t)now.tv_sec + PACKET_LEAP_SECONDS) * 1000000000 + (uint64_t)now.tv_nsec;
}

static void put(struct world *world, const uint8_t *packet, size_t octets, enum for_whom whom)
{
	struct parcel *parcel = queue_room(&world->down);

	if (!parcel) {
		atomic_fetch_add(&world->packets_lost, 1);
		return;
	}
	parcel->octets = (uint32_t)octets;
	parcel->ground = world->asker;
	parcel->whom = whom;
	memcpy(parcel->packet, packet, octets);
	queue_put(&world->down);
}

/* Who is refused, or new, is told so alone: what strangers do costs the others no room. */
static enum for_whom whom(const struct world *world, const uint8_t *packet)
{
	const struct report_row *refusal = pus_report_row(REPORT_NOT_ACCEPTED);

	if (!world->asker)
		return FOR_ALL;
	if (world->greets)
		return FOR_ONE;
	if (packet[7] == refusal->service && packet[8] == refusal->subtype)
		return REFUSAL;
	return world->of_file ? FOR_ALL : FOR_ASKER;
}

static void send_report(void *argument, const uint8_t *packet, size_t octets)
{
	put(argument, packet, octets, whom(argument, packet));
}

static void order(void *argument, const struct orders *orders)
{
	struct world *world = argument;

	snapshot_write(&world->orders, orders);
	wake(world->wake_camera);
}

static void keep(void *argument, const struct kept *kept)
{
	struct world *world = argument;

	snapshot_write(&world->kept, kept);
	wake(world->wake_supervisor);
}

static void restart(void *argument)
{
	struct world *world = argument;

	atomic_store(&world->restart, 1);
	wake(world->wake_supervisor);
}

static void load(void *argument, uint32_t file)
{
	struct world *world = argument;

	atomic_store(&world->file_wanted, file + 1);
	wake(world->wake_supervisor);
}

bool reports_room(const struct world *world)
{
	return queue_waiting(&world->down) < world->down.count / 4;
}

static bool send_file(void *argument, const uint8_t *packet, size_t octets)
{
	struct world *world = argument;

	if (!reports_room(world))
		return false;
	put(world, packet, octets, PIECE);
	return true;
}

static void keep_counter(void *argument, uint64_t count)
{
	struct world *world = argument;

	snapshot_write(&world->counter, &count);
	wake(world->wake_supervisor);
}

static uint64_t draw(void *argument)
{
	uint64_t drawn = 0;

	(void)argument;
	return getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) == sizeof(drawn) ? drawn : 0;
}

static uint32_t age_us(uint64_t now, const uint32_t at[2])
{
	const uint64_t then = (uint64_t)at[1] << 32 | at[0], age = now > then ? (now - then) / 1000 : 0;

	return !then || age > UINT32_MAX ? UINT32_MAX : (uint32_t)age;
}

static void look(void *argument, struct seen *seen)
{
	struct world *world = argument;
	struct camera_seen camera = { 0 };
	const uint64_t now = now_ns();

	for (int tries = 0; tries < 100 && !snapshot_read(&world->seen, &camera); tries++)
		;
	seen->camera = camera.camera;
	seen->pose = camera.pose;
	seen->camera.frame_age_us = age_us(now, camera.frame_at);
	seen->pose.pose_age_us = age_us(now, camera.pose_at);
	seen->control = (struct report_hk_control){
		.control_cycles = atomic_load(&world->control_cycles),
		.control_misses = atomic_load(&world->control_misses),
		.control_late_us = atomic_load(&world->control_late_us),
		.control_late_most_us = atomic_load(&world->control_late_most_us),
	};
	seen->link = (struct report_hk_link){
		.damaged = atomic_load(&world->damaged),
		.commands_lost = atomic_load(&world->commands_lost),
		.packets_sent = atomic_load(&world->packets_sent),
		.packets_lost = atomic_load(&world->packets_lost),
		.connections = atomic_load(&world->connections),
	};
	seen->system = (struct report_hk_system){
		.watchdog = atomic_load(&world->watchdog_on),
		.memory_kib = atomic_load(&world->memory_kib),
		.page_faults = atomic_load(&world->page_faults),
		.temperature_mc = (int32_t)atomic_load(&world->temperature_mc),
		.state_writes = atomic_load(&world->state_writes),
		.state_failures = atomic_load(&world->state_failures),
	};
	seen->temperature = atomic_load(&world->temperature_known);
	seen->control_late_us = atomic_exchange(&world->control_late_checked_us, 0);
}

void commands_ready(struct world *world, const struct kept *kept, enum cause cause)
{
	struct outside outside = { .world = world,
				   .send = send_report,
				   .order = order,
				   .look = look,
				   .keep = keep,
				   .restart = restart,
				   .load = load,
				   .send_file = send_file,
				   .file = world->file,
				   .tag = world->options.key ? tag_of : NULL,
				   .keep_counter = keep_counter,
				   .draw = draw };

	counter_read(world->options.state, outside.counter);
	flight_start(&world->flight, &outside, kept, cause, (enum mode)world->options.start, tai_ns(), now_ns());
}

static void take(struct world *world, const struct parcel *parcel)
{
	const uint32_t accepted = world->flight.accepted;

	world->asker = parcel->ground;
	world->of_file = parcel->octets >= 2 && (pus_get(parcel->packet, 2) & 0x7ff) == CFDP_APID;
	flight_telecommand(&world->flight, parcel->packet, parcel->octets);
	world->asker = 0;
	if (world->flight.accepted != accepted)
		atomic_store(&world->heard[parcel->ground % LINK_PEERS], parcel->ground);
}

static void hear(struct world *world, const struct told *told)
{
	flight_mend(&world->flight); /* which all are told, and not whom this greets */
	world->greets = told->word == WORD_GROUND;
	world->asker = world->greets ? told->value : 0;
	flight_told(&world->flight, told);
	world->greets = false;
	world->asker = 0;
}

void *commands_thread(void *argument)
{
	struct world *world = argument;
	struct flight *flight = &world->flight;

	become_realtime(world, PRIORITY_COMMANDS);
	for (;;) {
		const uint64_t now = now_ns(), next = flight_next_ns(flight);
		const uint64_t wait_ns = next > now ? next - now : 0;
		const struct timespec wait = { (time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000) };
		struct pollfd polled = { .fd = world->wake_commands, .events = POLLIN };
		uint64_t woken;
		void *next_one;

		if (ppoll(&polled, 1, &wait, NULL) > 0 && read(world->wake_commands, &woken, sizeof(woken)) < 0)
			continue;
		atomic_fetch_add(&world->beat[THREAD_COMMANDS], 1);
		flight_now(flight, tai_ns(), now_ns());
		for (int by = 0; by < TOLD_BY; by++)
			for (; (next_one = queue_next(&world->told[by])); queue_taken(&world->told[by]))
				hear(world, next_one);
		for (int most = 0; most < 64 && reports_room(world) && (next_one = queue_next(&world->up)); most++) {
			flight_now(flight, tai_ns(), now_ns());
			take(world, next_one);
			queue_taken(&world->up);
		}
		if (reports_room(world) && queue_next(&world->up)) /* the rest after what is due */
			wake(world->wake_commands);
		flight_due(flight);
		wake(world->wake_link);
	}
	return NULL;
}
