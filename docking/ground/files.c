// SPDX-License-Identifier: MIT
#include "files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/program/octets.h"

enum { PRIMARY = 6, COUNTS = 0x4000, SEED = 0x9e3779b9 };

/* Whether this one is lost: the same ones in each run (xorshift32). */
static bool lost(struct files *files)
{
	if (!files->share)
		return false;
	files->random ^= files->random << 13;
	files->random ^= files->random >> 17;
	files->random ^= files->random << 5;
	if (files->random % 100 >= files->share)
		return false;
	files->lost++;
	return true;
}

static void send_pdu(void *world, const uint8_t *pdu, size_t octets)
{
	struct files *files = world;
	const size_t length = PRIMARY + octets + PUS_CRC;
	uint8_t packet[PRIMARY + CFDP_PDU_MOST + PUS_CRC], *at = packet;

	if (lost(files))
		return;
	at = pus_put(at, 0x1000 | CFDP_APID, 2); /* a telecommand without a secondary header */
	at = pus_put(at, 0xc000u | (files->sent++ & (COUNTS - 1)), 2);
	at = pus_put(at, (uint32_t)length - 7, 2);
	memcpy(at, pdu, octets);
	pus_put(at + octets, pus_crc(packet, length - PUS_CRC), PUS_CRC);
	files->put(files->world, packet, length);
}

static void begun(void *world)
{
	struct files *files = world;

	files->differ = 0;
	files->fd = files->path ? open(files->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	fprintf(files->log, "%lld begun %u\n", (long long)files->now_ns, files->receiver.transaction);
}

static void came(void *world, uint32_t from, const uint8_t *piece, uint32_t octets)
{
	struct files *files = world;
	uint8_t there[RECEIVER_PIECE];
	const ssize_t got = files->fd < 0 ? 0 : pread(files->fd, there, octets, from);
	const uint32_t known = got > 0 ? (uint32_t)got : 0;

	for (uint32_t one = 0; one < octets; one++)
		files->differ += one >= known || there[one] != piece[one];
}

static void ended(void *world)
{
	struct files *files = world;
	const struct receiver *receiver = &files->receiver;
	struct stat status;
	char differ[16] = "-";

	if (files->fd >= 0 && !fstat(files->fd, &status)) {
		if (status.st_size > (off_t)receiver->summed)
			files->differ += (uint32_t)(status.st_size - receiver->summed);
		snprintf(differ, sizeof(differ), "%u", files->differ);
	}
	if (files->fd >= 0)
		close(files->fd);
	files->fd = -1;
	fprintf(files->log, "%lld file %u %d %s %u %08x %s %u %u %u %u\n", (long long)files->now_ns,
		receiver->transaction, receiver->condition, receiver->name, receiver->summed, receiver->crc, differ,
		files->packets, files->missing, files->lost, receiver->asked);
	files->packets = files->missing = files->lost = 0;
}

void files_ready(struct files *files)
{
	files->fd = -1;
	files->receiver.world = files;
	files->receiver.send = send_pdu;
	files->receiver.begun = begun;
	files->receiver.came = came;
	files->receiver.ended = ended;
}

void files_lose(struct files *files, uint32_t share)
{
	files->share = share;
	files->random = SEED;
}

void files_up(struct files *files)
{
	files->follows = false;
}

bool files_take(struct files *files, const uint8_t *packet, size_t octets, int64_t now_ns)
{
	uint16_t count;

	if (octets < PRIMARY + PUS_CRC || pus_get(packet, 2) != CFDP_APID || packet[2] >> 6 != 3 ||
	    pus_length(packet) != octets || pus_crc(packet, octets))
		return false;
	count = (uint16_t)(pus_get(packet + 2, 2) & (COUNTS - 1));
	files->packets++;
	files->missing += files->follows ? (count - files->came) & (COUNTS - 1) : 0;
	files->follows = true;
	files->came = (uint16_t)((count + 1) & (COUNTS - 1));
	files->now_ns = now_ns;
	return lost(files) ||
	       receiver_take(&files->receiver, packet + PRIMARY, octets - PRIMARY - PUS_CRC, (uint64_t)now_ns);
}

void files_due(struct files *files, int64_t now_ns)
{
	files->now_ns = now_ns;
	receiver_due(&files->receiver, (uint64_t)now_ns);
}

int64_t files_next_ns(const struct files *files)
{
	const uint64_t next_ns = receiver_next_ns(&files->receiver);

	return next_ns > INT64_MAX ? INT64_MAX : (int64_t)next_ns;
}
