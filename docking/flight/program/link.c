// SPDX-License-Identifier: MIT
/* The links' thread: octets of TCP connections and of a serial line to packets, and back. Whoever sends slowly, sends
 * garbage or reads nothing costs the others nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cobs.h"
#include "link.h"

static struct links *the_links(void)
{
	static struct links links;

	return &links;
}

/* May another packet be taken now? */
static bool room(struct links *links, const struct peer *peer)
{
	return peer->taken < LINK_MOST && queue_room(&links->world->up) && reports_room(links->world);
}

/* Hands octets to the commands' thread; false where its queue is full. */
static bool hand_over(struct links *links, struct peer *peer, const uint8_t *packet, size_t octets)
{
	struct world *world = links->world;
	struct parcel *parcel = queue_room(&world->up);

	if (!parcel)
		return false;
	parcel->octets = (uint32_t)octets;
	parcel->ground = peer->ground;
	memcpy(parcel->packet, packet, octets);
	peer->taken++;
	queue_put(&world->up);
	wake(world->wake_commands);
	return true;
}

static bool sound(const uint8_t *packet, size_t octets)
{
	return octets >= PUS_LEAST && pus_length(packet) == octets && !pus_crc(packet, octets);
}

static void hang_up(struct peer *peer)
{
	close(peer->fd);
	peer->fd = -1;
}

/* What came is no packet. It is reported, and then nothing more is taken: where the next one begins is not known. */
static void garbage(struct links *links, struct peer *peer, size_t octets, uint64_t now)
{
	atomic_fetch_add(&links->world->damaged, 1);
	if (!hand_over(links, peer, peer->in, octets < PACKET_LARGEST ? octets : PACKET_LARGEST))
		atomic_fetch_add(&links->world->commands_lost, 1);
	peer->have = 0;
	peer->close_ns = now + LINK_LINGER_MS * 1000000ull;
}

/* The packets at the front of a TCP stream; it stops where there is no room. */
static void take_packets(struct links *links, struct peer *peer, uint64_t now)
{
	while (peer->have >= 6 && !peer->close_ns && room(links, peer)) {
		const size_t length = pus_length(peer->in);

		if (length > PACKET_LARGEST) {
			garbage(links, peer, peer->have, now);
			return;
		}
		if (peer->have < length)
			return;
		if (!sound(peer->in, length)) {
			garbage(links, peer, length, now);
			return;
		}
		hand_over(links, peer, peer->in, length);
		peer->have -= length;
		memmove(peer->in, peer->in + length, peer->have);
		peer->since_ns = now;
	}
}

/* The frames of a serial line: each ends with a zero. */
static void take_frames(struct links *links, struct peer *peer)
{
	struct world *world = links->world;
	uint8_t packet[sizeof(peer->in)], *end;

	while (room(links, peer) && (end = memchr(peer->in, 0, peer->have))) {
		const size_t frame = (size_t)(end - peer->in), octets = cobs_decode(peer->in, frame, packet);

		if (frame && (peer->overrun || !sound(packet, octets)))
			atomic_fetch_add(&world->damaged, 1);
		else if (frame && !peer->met)
			peer->met = tell(world, TOLD_LINK, WORD_GROUND, peer->ground, 0);
		if (octets && octets <= PACKET_LARGEST && !peer->overrun)
			hand_over(links, peer, packet, octets);
		peer->overrun = false;
		peer->have -= frame + 1;
		memmove(peer->in, end + 1, peer->have);
	}
	if (peer->have == sizeof(peer->in) &&
	    !memchr(peer->in, 0, peer->have)) { /* longer than any packet: nothing until the next zero */
		peer->have = 0;
		peer->overrun = true;
	}
}

static void receive(struct links *links, struct peer *peer, uint64_t now)
{
	ssize_t got = read(peer->fd, peer->in + peer->have, sizeof(peer->in) - peer->have);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0 && peer->serial) { /* the other end is not there */
		peer->rest_ns = now + LINK_REST_MS * 1000000ull;
		return;
	}
	if (got <= 0) {
		hang_up(peer);
		return;
	}
	if (!peer->have)
		peer->since_ns = now;
	peer->have += (size_t)got;
	if (peer->serial)
		take_frames(links, peer);
	else if (peer->close_ns)
		peer->have = 0;
	else
		take_packets(links, peer, now);
}

static void transmit(struct peer *peer, uint64_t now)
{
	ssize_t sent = peer->serial ? write(peer->fd, peer->out, peer->waiting) :
				      send(peer->fd, peer->out, peer->waiting, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (sent < 0 && peer->serial) {
		peer->waiting = 0;
		peer->rest_ns = now + LINK_REST_MS * 1000000ull;
		return;
	}
	if (sent < 0) {
		hang_up(peer);
		return;
	}
	peer->waiting -= (size_t)sent;
	memmove(peer->out, peer->out + sent, peer->waiting);
}

/* Is there room for so many octets more, where so many may wait? */
static bool fits(struct peer *peer, size_t octets, size_t most, uint64_t now)
{
	if (peer->waiting + octets > most && peer->waiting && peer->rest_ns <= now)
		transmit(peer, now);
	return peer->fd >= 0 && peer->waiting + octets <= most;
}

/* So many octets may wait once this waits too: a slow line keeps room, and time, for answers to its own ground. */
static size_t most_waiting(const struct peer *peer, const struct parcel *parcel)
{
	if (parcel->ground == peer->ground)
		return LINK_OUT;
	return parcel->whom == FOR_ALL ? LINK_OUT - LINK_ANSWERS : LINK_OTHERS;
}

static bool for_it(struct peer *peer, const struct parcel *parcel)
{
	if (parcel->whom != REFUSAL && parcel->whom != FOR_ONE)
		return true;
	if (parcel->ground != peer->ground)
		return false;
	peer->was_refused |= parcel->whom == REFUSAL;
	return parcel->whom == FOR_ONE || peer->refused++ < LINK_REFUSED_MOST;
}

static void skip(struct peer *peer, const struct parcel *parcel)
{
	peer->skips = true;
	peer->skipped++;
	peer->skipped_of[parcel->packet[7]]++;
}

/* The packet as its ground counts: what was for others, and so is not missing, leaves no gap. */
static const uint8_t *counted(const struct peer *peer, const struct parcel *parcel, uint8_t packet[PACKET_LARGEST])
{
	const size_t octets = parcel->octets - PUS_CRC;
	const uint8_t *from = parcel->packet;

	if (!peer->skips || (pus_get(from, 2) & 0x7ff) != PACKET_APID)
		return from;
	memcpy(packet, from, octets);
	pus_put(packet + 2, 0xc000u | ((pus_get(from + 2, 2) - peer->skipped) & 0x3fff), 2);
	pus_put(packet + 9, pus_get(from + 9, 2) - peer->skipped_of[from[7]], 2);
	pus_put(packet + octets, pus_crc(packet, octets), PUS_CRC);
	return packet;
}

/* Reports go to every ground that they are for; one that does not read loses whole packets. */
static void distribute(struct links *links, uint64_t now)
{
	struct world *world = links->world;
	struct parcel *parcel;

	for (; (parcel = queue_next(&world->down)); queue_taken(&world->down)) {
		const bool alone = parcel->whom == FOR_ONE || parcel->whom == REFUSAL;
		bool sent = false, missed = false;
		uint8_t own[PACKET_LARGEST];

		for (int one = 0; one < LINK_PEERS; one++) {
			struct peer *peer = &links->peer[one];
			const size_t octets = peer->serial ? COBS_MOST(parcel->octets) : parcel->octets;
			const uint8_t *packet;

			if (peer->fd < 0)
				continue;
			if (!for_it(peer, parcel)) {
				skip(peer, parcel);
				continue;
			}
			if (!fits(peer, octets, most_waiting(peer, parcel), now)) {
				missed = true;
				continue;
			}
			packet = counted(peer, parcel, own);
			if (peer->serial)
				peer->waiting += cobs_encode(packet, parcel->octets, peer->out + peer->waiting);
			else
				memcpy(peer->out + peer->waiting, packet, parcel->octets);
			peer->waiting += peer->serial ? 0 : parcel->octets;
			sent = true;
		}
		atomic_fetch_add(&world->packets_sent, sent);
		atomic_fetch_add(&world->packets_lost, missed || (!sent && !alone));
	}
	if (queue_waiting(&world->up)) /* what waited for this room */
		wake(world->wake_commands);
	for (int one = 0; one < LINK_PEERS; one++)
		if (links->peer[one].fd >= 0 && links->peer[one].waiting && links->peer[one].rest_ns <= now)
			transmit(&links->peer[one], now);
}

/* Of two that have shown nothing, who makes room: one that was refused, else the one that came last, so that a ground
 * that only listens is not driven out by who keeps coming. */
static bool goes_first(const struct peer *one, const struct peer *other)
{
	return one->was_refused != other->was_refused ? one->was_refused : one->came_ns >= other->came_ns;
}

/* For a new connection. NULL: there is none yet. */
static struct peer *place(struct links *links, uint64_t now)
{
	struct peer *found = NULL;

	for (int one = 0; one < LINK_CONNECTIONS; one++) {
		struct peer *peer = &links->peer[one];

		if (peer->fd < 0)
			return peer;
		if (!peer->heard_ns && (!found || goes_first(peer, found)))
			found = peer;
	}
	return found && (found->was_refused || now - found->came_ns >= LINK_TRIAL_MS * 1000000ull) ? found : NULL;
}

static void accept_one(struct links *links, uint64_t now)
{
	struct peer *peer = place(links, now);
	int fd = peer ? link_accept(links->listener) : -1;

	if (fd < 0)
		return;
	if (peer->fd >= 0)
		hang_up(peer);
	memset(peer, 0, offsetof(struct peer, in));
	peer->fd = fd;
	peer->came_ns = now;
	peer->ground = ++links->grounds * LINK_PEERS + (uint32_t)(peer - links->peer);
	links->came++;
	atomic_fetch_add(&links->world->connections, 1);
	tell(links->world, TOLD_LINK, WORD_GROUND, peer->ground, 0);
}

/* A ground from which a telecommand was accepted keeps its place, but for one more of them, which then takes the place of
 * the one that has said nothing for longest: one is left for who comes next. */
static void heard(struct links *links, struct peer *peer, uint64_t now)
{
	struct peer *silent = NULL;

	peer->heard_ns = now;
	for (int one = 0; one < LINK_CONNECTIONS; one++) {
		struct peer *other = &links->peer[one];

		if (other->fd < 0 || !other->heard_ns)
			return;
		if (!silent || other->heard_ns < silent->heard_ns)
			silent = other;
	}
	hang_up(silent);
}

static void hear(struct links *links, uint64_t now)
{
	for (int one = 0; one < LINK_CONNECTIONS; one++) {
		struct peer *peer = &links->peer[one];
		const uint32_t ground = atomic_exchange(&links->world->heard[one], 0);

		if (ground && ground == peer->ground && peer->fd >= 0)
			heard(links, peer, now);
	}
}

/* What time does: half a packet is not waited for, and what was garbage ends its connection. */
static void judge(struct links *links, struct peer *peer, uint64_t now)
{
	if (peer->fd < 0)
		return;
	if (peer->serial) {
		take_frames(links, peer); /* those that found no room */
		return;
	}
	if (peer->close_ns && now >= peer->close_ns) {
		hang_up(peer);
		return;
	}
	take_packets(links, peer, now); /* likewise */
	if (peer->have && !peer->close_ns && room(links, peer) && now - peer->since_ns > LINK_PATIENCE_MS * 1000000ull)
		garbage(links, peer, peer->have, now);
}

static void turn(struct links *links)
{
	struct world *world = links->world;
	struct pollfd polled[2 + LINK_PEERS] = { { .fd = world->wake_link, .events = POLLIN },
						 { .fd = -1, .events = POLLIN } };
	uint64_t now = now_ns(), woken;
	int timeout_ms = 200;

	if (links->came < LINK_MOST && place(links, now))
		polled[1].fd = links->listener;
	else
		timeout_ms = LINK_WINDOW_MS;

	for (int one = 0; one < LINK_PEERS; one++) {
		struct peer *peer = &links->peer[one];
		const bool may_read = peer->have < sizeof(peer->in) && room(links, peer);

		polled[2 + one].fd = peer->rest_ns > now ? -1 : peer->fd;
		polled[2 + one].events = (short)((may_read ? POLLIN : 0) | (peer->waiting ? POLLOUT : 0));
		if (peer->fd >= 0 && (peer->close_ns || peer->have || peer->rest_ns > now))
			timeout_ms = 20;
		if (peer->fd >= 0 && peer->taken >= LINK_MOST && timeout_ms > LINK_WINDOW_MS)
			timeout_ms = LINK_WINDOW_MS;
	}
	poll(polled, 2 + LINK_PEERS, timeout_ms);
	now = now_ns();
	atomic_fetch_add(&world->beat[THREAD_LINK], 1);
	if (now - links->window_ns >= LINK_WINDOW_MS * 1000000ull) {
		links->window_ns = now;
		links->came = 0;
		for (int one = 0; one < LINK_PEERS; one++)
			links->peer[one].taken = 0;
	}
	if (now - links->refused_ns >= LINK_REFUSED_MS * 1000000ull) {
		links->refused_ns = now;
		for (int one = 0; one < LINK_PEERS; one++)
			links->peer[one].refused = 0;
	}
	if (polled[0].revents && read(world->wake_link, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
		return;
	hear(links, now);
	links->first = (links->first + 1) % LINK_PEERS; /* else one that asks for much would be the only one */
	for (int count = 0; count < LINK_PEERS; count++) {
		const int one = (links->first + count) % LINK_PEERS;
		struct peer *peer = &links->peer[one];

		if (polled[2 + one].revents & (POLLIN | POLLHUP | POLLERR) && peer->fd >= 0)
			receive(links, peer, now);
		judge(links, peer, now);
	}
	if (polled[1].revents)
		accept_one(links, now);
	distribute(links, now);
}

void link_ready(struct world *world)
{
	struct links *links = the_links();

	links->world = world;
	for (int one = 0; one < LINK_PEERS; one++)
		links->peer[one].fd = -1;
	links->listener = world->options.port ? link_listen(&world->options) : -1;
	if (world->options.serial) {
		links->peer[LINK_SERIAL].fd = link_serial(&world->options);
		links->peer[LINK_SERIAL].serial = true;
		links->peer[LINK_SERIAL].ground = LINK_SERIAL; /* the count of connections begins with 1 */
	}
}

void *link_thread(void *argument)
{
	become_realtime(argument, PRIORITY_LINK);
	for (;;)
		turn(the_links());
	return NULL;
}
