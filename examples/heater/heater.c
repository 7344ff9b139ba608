// SPDX-License-Identifier: MIT
/*
 * heater: a small flight program to try `rtqual verify` with (docs/verify-yours.md). It keeps a tank at a temperature,
 * takes telecommands as PUS packets over UDP and answers them; every 100 ms it sends its housekeeping.
 *
 *   heater [listen|connect] [FAULT]
 *
 * listen, connect: over TCP, as often as there is a link. FAULT is what a procedure must notice: drop, delay, twice, flip, swap, never, exit. None of it is a flight program's.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 10025, GROUND = 10026, APID = 42, PERIOD_NS = 100000000 };
enum { TC_HEAD = 11, TM_HEAD = 15, CRC = 2, MOST = 256 };
enum { OFF, ON, HOT_C = 90, ANSWERS_UNTIL_EXIT = 4 };
enum failure { NONE, UNKNOWN_TYPE, WRONG_CHECKSUM, WRONG_LENGTH, OUT_OF_RANGE };

struct heater {
	int fd, listening; /* -1: there is none */
	bool stream, calls; /* TCP; it is this end that connects */
	struct sockaddr_in ground;
	const char *fault;
	uint16_t sequence, setpoint, accepted, refused;
	uint8_t mode;
	int16_t temperature; /* 0.1 degrees */
	unsigned int answers;
	uint8_t came[MOST]; /* of a stream, and no whole telecommand yet */
	size_t came_bytes;
	uint8_t held[MOST]; /* of fault `swap` */
	size_t held_bytes;
};

static uint16_t crc16(const uint8_t *octets, size_t count)
{
	uint16_t crc = 0xFFFF;

	while (count--) {
		crc ^= (uint16_t)(*octets++ << 8);
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	}
	return crc;
}

static void put16(uint8_t *to, unsigned int value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void transmit(struct heater *heater, const uint8_t *packet, size_t bytes)
{
	if (heater->stream)
		send(heater->fd, packet, bytes, MSG_NOSIGNAL);
	else
		sendto(heater->fd, packet, bytes, 0, (const struct sockaddr *)&heater->ground, sizeof(heater->ground));
}

static bool has(const struct heater *heater, const char *fault)
{
	return heater->fault && !strcmp(heater->fault, fault);
}

/* Of answers alone, so that housekeeping goes on whatever happens to them. */
static void transmit_badly(struct heater *heater, uint8_t *packet, size_t bytes)
{
	if (++heater->answers == ANSWERS_UNTIL_EXIT && has(heater, "exit"))
		exit(1);
	if (has(heater, "never") || (has(heater, "drop") && heater->answers % 2 == 0))
		return;
	if (has(heater, "delay"))
		usleep(300000);
	if (has(heater, "flip"))
		packet[bytes - CRC - 1] ^= 4;
	if (has(heater, "swap") && heater->answers % 2) {
		memcpy(heater->held, packet, bytes);
		heater->held_bytes = bytes;
		return;
	}
	transmit(heater, packet, bytes);
	if (has(heater, "twice"))
		transmit(heater, packet, bytes);
	if (heater->held_bytes)
		transmit(heater, heater->held, heater->held_bytes);
	heater->held_bytes = 0;
}

static void report(struct heater *heater, uint8_t service, uint8_t subtype, const void *data, size_t count)
{
	uint8_t packet[MOST] = { 0 };
	const size_t bytes = TM_HEAD + count + CRC;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	put16(packet, 0x0800 | APID);
	put16(packet + 2, 0xC000 | (heater->sequence++ & 0x3FFF));
	put16(packet + 4, (unsigned int)bytes - 7);
	packet[6] = 0x20;
	packet[7] = service;
	packet[8] = subtype;
	put16(packet + 11, (unsigned int)(now.tv_sec * 1000 + now.tv_nsec / 1000000) >> 16);
	put16(packet + 13, (unsigned int)(now.tv_sec * 1000 + now.tv_nsec / 1000000));
	memcpy(packet + TM_HEAD, data, count);
	put16(packet + bytes - CRC, crc16(packet, bytes - CRC));
	if (service == 1)
		transmit_badly(heater, packet, bytes);
	else
		transmit(heater, packet, bytes);
}

static void answer(struct heater *heater, uint8_t subtype, const uint8_t *request, enum failure failure)
{
	uint8_t data[6];

	memcpy(data, request, 4);
	put16(data + 4, failure);
	report(heater, 1, subtype, data, failure == NONE ? 4 : 6);
}

static enum failure done(struct heater *heater, unsigned int type, const uint8_t *data)
{
	switch (type) {
	case 17 << 8 | 1: /* PING */
		report(heater, 17, 2, "", 0);
		return NONE;
	case 8 << 8 | 1: /* MODE */
		if (data[0] > ON)
			return OUT_OF_RANGE;
		heater->mode = data[0];
		return NONE;
	default: /* SETPOINT */
		if ((data[0] << 8 | data[1]) > HOT_C * 10)
			return OUT_OF_RANGE;
		heater->setpoint = (uint16_t)(data[0] << 8 | data[1]);
		if (heater->setpoint > HOT_C * 9)
			report(heater, 5, 3, "\0\7", 2); /* medium: NEARLY_TOO_HOT */
		return NONE;
	}
}

static void telecommand(struct heater *heater, const uint8_t *packet, size_t bytes)
{
	static const struct {
		unsigned int type;
		size_t data;
	} known[] = { { 17 << 8 | 1, 0 }, { 8 << 8 | 1, 1 }, { 20 << 8 | 3, 2 } };
	enum failure failure = UNKNOWN_TYPE;
	unsigned int type;

	if (bytes < TC_HEAD + CRC) /* nobody could be answered */
		return;
	type = (unsigned int)packet[7] << 8 | packet[8];
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type)
			failure = known[i].data == bytes - TC_HEAD - CRC ? NONE : WRONG_LENGTH;
	if (crc16(packet, bytes))
		failure = WRONG_CHECKSUM;
	if (failure != NONE) {
		heater->refused++;
		answer(heater, 2, packet, failure);
		return;
	}
	heater->accepted++;
	answer(heater, 1, packet, NONE);
	failure = done(heater, type, packet + TC_HEAD);
	answer(heater, failure == NONE ? 7 : 8, packet, failure);
}

static void housekeeping(struct heater *heater)
{
	uint8_t data[9];

	heater->temperature += heater->mode == ON && heater->temperature < heater->setpoint ? 5 :
			       heater->temperature > 200                                    ? -1 :
											      0;
	put16(data, heater->accepted);
	put16(data + 2, heater->refused);
	data[4] = heater->mode;
	put16(data + 5, heater->setpoint);
	put16(data + 7, (uint16_t)heater->temperature);
	report(heater, 3, 25, data, sizeof(data));
}

static struct sockaddr_in at_port(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int bound(int type)
{
	const struct sockaddr_in here = at_port(PORT);
	const int fd = socket(AF_INET, type, 0), yes = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(fd, (const struct sockaddr *)&here, sizeof(here)) || (type == SOCK_STREAM && listen(fd, 1))) {
		perror("heater");
		exit(1);
	}
	return fd;
}

/* Where this end connects, it tries whenever it has none. */
static void call(struct heater *heater)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&heater->ground, sizeof(heater->ground)))
		heater->fd = fd;
	else
		close(fd);
}

static void receive(struct heater *heater)
{
	uint8_t *const octets = heater->came;
	ssize_t got;
	size_t bytes;

	if (heater->fd < 0) {
		heater->fd = accept(heater->listening, NULL, NULL);
		return;
	}
	got = recv(heater->fd, octets + heater->came_bytes, MOST - heater->came_bytes, 0);
	if (got > 0 && !heater->stream)
		telecommand(heater, octets, (size_t)got);
	if (!heater->stream)
		return;
	heater->came_bytes += got > 0 ? (size_t)got : 0;
	while (heater->came_bytes >= 6 && (bytes = (size_t)(octets[4] << 8 | octets[5]) + 7) <= heater->came_bytes) {
		telecommand(heater, octets, bytes);
		heater->came_bytes -= bytes;
		memmove(octets, octets + bytes, heater->came_bytes);
	}
	if (got <= 0 || heater->came_bytes == MOST) { /* the link is gone, or has lost step */
		close(heater->fd);
		heater->fd = -1;
		heater->came_bytes = 0;
	}
}

int main(int argc, char **argv)
{
	const struct itimerspec period = { .it_interval.tv_nsec = PERIOD_NS, .it_value.tv_nsec = PERIOD_NS };
	struct heater heater = { .fd = -1, .listening = -1, .ground = at_port(GROUND), .temperature = 200 };
	const int timer = timerfd_create(CLOCK_MONOTONIC, 0);

	heater.calls = argc > 1 && !strcmp(argv[1], "connect");
	heater.stream = heater.calls || (argc > 1 && !strcmp(argv[1], "listen"));
	heater.fault = argc > 1 + heater.stream ? argv[1 + heater.stream] : NULL;
	if (!heater.stream)
		heater.fd = bound(SOCK_DGRAM);
	else if (!heater.calls)
		heater.listening = bound(SOCK_STREAM);
	if (timer < 0 || timerfd_settime(timer, 0, &period, NULL)) {
		perror("heater");
		return 1;
	}
	puts("heater: ready");
	fflush(stdout);
	for (;;) {
		if (heater.calls && heater.fd < 0)
			call(&heater);

		struct pollfd look[] = { { .fd = heater.fd < 0 ? heater.listening : heater.fd, .events = POLLIN },
					 { .fd = timer, .events = POLLIN } };
		uint64_t times;

		if (poll(look, 2, -1) < 0)
			return 1;
		if (look[0].revents)
			receive(&heater);
		if (look[1].revents && read(timer, &times, sizeof(times)) == sizeof(times))
			housekeeping(&heater);
	}
}
