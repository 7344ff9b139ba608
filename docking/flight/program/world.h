/* SPDX-License-Identifier: MIT */
/* ds325-flight's threads, and what they share. */
#ifndef FLIGHT_WORLD_H
#define FLIGHT_WORLD_H

#include "common/command_line.h"
#include "ds325/decode.h"
#include "flight.h"
#include "sha256.h"
#include "shared.h"

enum {
	PRIORITY_CONTROL = 90,
	PRIORITY_CAMERA = 80,
	PRIORITY_COMMANDS = 40,
	PRIORITY_LINK = 30,
	PRIORITY_PATIENT = 20, /* of the camera's thread while it opens the camera or computes: answers go first */
};
enum { CONTROL_PERIOD_NS = 1000000 };
enum {
	LINK_CONNECTIONS = 5, /* one of them for who has not shown yet that he may command */
	LINK_SERIAL = LINK_CONNECTIONS, /* the serial line's place, after those of TCP */
	LINK_PEERS
};

struct options {
	const char *address, *serial, *state, *frame, *log, *watchdog, *key, *device, *poses;
	uint32_t port, baud, watchdog_s;
	int64_t counter; /* -1: nothing but to run */
	int start; /* enum target */
	int camera; /* its way, as options.c names them */
	bool no_realtime;
};
void read_options(struct options *options, int argc, char **argv);

/* Whom a report is for. */
enum for_whom {
	FOR_ALL, /* what the program says by itself, */
	FOR_ASKER, /* what it answers to `ground`: to the others where they have room to spare, */
	PIECE, /* of a file: to all, likewise */
	FOR_ONE, /* to `ground` alone, */
	REFUSAL, /* and only so many in a second */
};
/* A packet on its way between the thread of the links and that of commands. */
struct parcel {
	uint32_t octets, ground; /* ground: which connection's; 0: none's */
	enum for_whom whom;
	uint8_t packet[PACKET_LARGEST];
};

/* Where the camera's thread has got to. */
struct camera_seen {
	struct report_hk_camera camera;
	struct report_hk_pose pose;
	uint32_t frame_at[2], pose_at[2]; /* CLOCK_MONOTONIC in ns: low, high; 0: none yet */
};

enum told_by { TOLD_CAMERA, TOLD_CONTROL, TOLD_LINK, TOLD_SUPERVISOR, TOLD_BY };

struct world {
	struct options options;
	struct flight flight; /* the commands' thread's alone, once threads run */
	struct queue up, down, told[TOLD_BY];
	struct snapshot orders, kept, seen, counter;
	int wake_commands, wake_link, wake_camera, wake_supervisor; /* eventfds */
	_Atomic uint32_t beat[THREAD_COUNT]; /* each thread counts on, so that the supervisor sees it live */
	_Atomic uint32_t restart, frame_held; /* frame_held: the frame asked for waits to be written */
	_Atomic uint32_t control_cycles, control_misses, control_late_us, control_late_most_us, control_late_checked_us;
	_Atomic uint32_t damaged, commands_lost, packets_sent, packets_lost, connections;
	_Atomic uint32_t memory_kib, page_faults, state_writes, state_failures, watchdog_on, temperature_mc,
		temperature_known;
	_Atomic uint32_t file_wanted; /* enum file and 1; 0: none */
	uint8_t file[FILE_MOST]; /* what goes down; the supervisor's while file_wanted, then the commands' */
	uint8_t frame[DS325_FRAME_BYTES]; /* the camera's thread's until frame_held, then the supervisor's */
	size_t frame_octets;
	struct hmac hmac; /* with the key */
	uint32_t asker; /* the commands' thread's: whose telecommand it runs; 0: nobody's, */
	bool greets,
		of_file; /* and whether it says what only a new ground does not know, and what ends another's transfer */
	_Atomic uint32_t heard[LINK_PEERS]; /* by place: the ground whose telecommand was accepted */
	int poses; /* -1: nobody wants them one by one */
};

/* May another telecommand be taken, or a piece of a file be sent? Three quarters of the queue are for what is said then
 * and by itself: a whole schedule, due at once, of telecommands that have nine reports each. */
bool reports_room(const struct world *world);
uint64_t now_ns(void); /* CLOCK_MONOTONIC */
void become_realtime(const struct world *world, int priority);
void wake(int eventfd);
void wait_for(int eventfd, int timeout_ms);
/* Tells the commands' thread; where its queue is full the word is lost, but for those that are told again. */
bool tell(struct world *world, enum told_by by, enum word word, uint32_t value, uint32_t detail);

/* The threads' functions. */
void *camera_thread(void *world);
void *control_thread(void *world);
void *commands_thread(void *world);
void *link_thread(void *world);
void supervise(struct world *world, char **argv);

/* Before threads run; they die with what is wrong. */
void camera_ready(struct world *world);
void link_ready(struct world *world);
void commands_ready(struct world *world, const struct kept *kept, enum cause cause);
void tag_ready(struct world *world);
void supervisor_ready(struct world *world);
/* Whether it was the watchdog that reset the board. */
enum cause supervisor_cause(enum cause cause);
void tag_of(void *world, const uint8_t *data, size_t octets, uint8_t tag[PUS_TAG]);

/* --- keep.c: what a restart keeps, in a file --- */
/* What the last run left, and why this one begins; false: there is nothing to go on with. */
bool keep_read(const char *path, struct kept *kept, enum cause *cause);
bool keep_write(const char *path, struct kept *kept); /* false with errno; notes which boot it is */
/* Three files beside that of the state; one that is not there, or damaged, leaves zeros. */
void counter_read(const char *path, struct counter copy[COUNTER_COPIES]);
/* One after the other: where the power goes in between, at most one is damaged. False with errno. */
bool counter_write(const char *path, uint64_t count);
/* --- kept.c --- */
/* Is a file's content one that this program could have written? */
bool keep_sound(const uint8_t *file, size_t octets, struct kept *kept);
size_t keep_make(uint8_t *file, const struct kept *kept); /* KEEP_OCTETS */
enum { KEEP_HEAD = 16, KEEP_OCTETS = KEEP_HEAD + sizeof(struct kept) };

#endif
