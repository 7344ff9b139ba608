/* SPDX-License-Identifier: MIT */
/*
 * What the flight program decides: telecommands, modes, housekeeping, events, schedule, limits. One thread owns it (the
 * one for commands); it allocates nothing, reads no clock and knows no device, so that tests and fuzzers run it as it is.
 */
#ifndef FLIGHT_FLIGHT_H
#define FLIGHT_FLIGHT_H

#include "cfdp.h"
#include "counter.h"
#include "pus.h"

enum {
	CAME_MOST = 1024, /* so many telecommands, and */
	CAME_KEPT_S = 600, /* so long, one that comes again is known as the same */
	CAMERA_PATIENCE_MS = 5000, /* until a start, a reset or a frame counts as failed */
	CHECK_MS = 100, /* between two looks at limits and settings */
	FILE_MOST = CFDP_FILE_MOST, /* octets of a file that comes down */
	QUIET_MS = 60000, /* without faults so long, the camera's faults are forgotten */
	UNCLEAN_MOST = 5, /* boots in a row that no command asked for, each within QUIET_MS: SAFE */
};

struct monitoring {
	uint32_t on;
	int32_t low, high;
	uint32_t checks;
};

struct scheduled {
	uint64_t at_ns;
	uint32_t octets;
	uint8_t packet[PACKET_SCHEDULED_OCTETS];
};

/* What a restart keeps. */
struct settings {
	uint32_t mode, pose, schedule_on, time_rate;
	int32_t parameter[PARAMETER_COUNT];
	uint32_t structures_on, events_off; /* bits by number */
	uint32_t interval_ms[STRUCTURE_LAST + 1];
	struct monitoring monitor[MONITOR_COUNT];
	uint32_t boots, unclean, orderly; /* orderly: RESTART was commanded, or the program was told to end */
	uint8_t boot_id[16]; /* of the system */
};
struct came {
	uint32_t whose, at_s; /* source and sequence count; CLOCK_MONOTONIC and a second; 0: none */
	uint16_t crc, unused;
};
struct kept {
	struct settings settings;
	uint32_t scheduled;
	struct scheduled schedule[PACKET_SCHEDULE_MOST];
	struct came came[CAME_MOST]; /* without a key: the last telecommands, */
	uint32_t next_came; /* and where the next one goes */
};

/* What the camera's thread is to do; it acts on what has changed. */
struct orders {
	uint32_t on, pose, again, frame; /* again, frame: count up by one for each reset, for each frame asked for */
	int32_t parameter[PARAMETER_COUNT];
};

/* What other threads tell. */
enum word {
	WORD_CAMERA, /* value: enum camera */
	WORD_CAMERA_FAILED, /* it could not be opened or driven */
	WORD_LOST, /* value: frames */
	WORD_CLOSED, /* the camera is closed */
	WORD_FRAME_KEPT, /* the frame asked for lies in its file; value 0: it could not be written */
	WORD_MISS, /* of the control loop; value: us late, detail: so far */
	WORD_SILENT,
	WORD_SIGN, /* value: a thread, detail: ms */
	WORD_STATE_FAILED, /* value: errno, detail: so far */
	WORD_GROUND, /* a ground has connected; value: which */
	WORD_FILE, /* the file asked for is read; value: octets, detail: CRC-32 */
	WORD_NO_FILE, /* it could not be */
};
struct told {
	uint32_t word, value, detail;
};

/* What housekeeping reports about the other threads. */
struct seen {
	struct report_hk_camera camera;
	struct report_hk_pose pose;
	struct report_hk_control control;
	struct report_hk_link link;
	struct report_hk_system system;
	uint32_t control_late_us; /* the largest since the last look */
	bool temperature; /* is there a thermal zone? */
};

/* What it needs of the world; `world` is the first argument. */
struct outside {
	void *world;
	void (*send)(void *world, const uint8_t *packet, size_t octets);
	void (*order)(void *world, const struct orders *orders);
	void (*look)(void *world, struct seen *seen);
	void (*keep)(void *world, const struct kept *kept); /* when there is time */
	void (*restart)(void *world);
	void (*load)(void *world, uint32_t file); /* enum file; WORD_FILE when it is read */
	bool (*send_file)(void *world, const uint8_t *packet, size_t octets); /* false: no room now */
	const uint8_t *file; /* what was read */
	/* HMAC-SHA256 with the key; NULL: telecommands have no tags, and none of these is needed. */
	void (*tag)(void *world, const uint8_t *data, size_t octets, uint8_t tag[PUS_TAG]);
	void (*keep_counter)(void *world, uint64_t count); /* at once */
	uint64_t (*draw)(void *world); /* a number that nobody foretells; 0: there is none now */
	struct counter counter[COUNTER_COPIES]; /* as the last run left it */
};

enum pending { PENDING_START, PENDING_STOP, PENDING_FRAME, PENDING_RESET, PENDING_FILE, PENDING_COUNT };
struct waiting {
	uint32_t request_id, acks, active;
	uint64_t until_ns;
};

struct flight {
	struct kept kept;
	struct settings sound; /* kept.settings as they were last set, */
	uint32_t sound_crc; /* with their checksum, against flipped bits */
	struct outside outside; /* with the counter as it is now */
	uint64_t challenge; /* the counter is lost: only a telecommand that says this sets it; 0: it is not */
	struct pus_counts counts;
	uint64_t tai_ns, now_ns; /* since the epoch; CLOCK_MONOTONIC */
	struct orders orders;
	struct waiting waiting[PENDING_COUNT];
	uint64_t structure_due_ns[STRUCTURE_LAST + 1], time_due_ns, check_due_ns;
	uint32_t cause, camera, times_gone, lost, faults, mended;
	uint64_t gone_ns, fault_ns, started_ns;
	uint32_t accepted, rejected, duplicates;
	struct { /* by monitor: what the last checks said, and how often in a row */
		int32_t state, last;
		uint32_t row;
	} limit[MONITOR_COUNT];
	struct cfdp cfdp;
	uint32_t file, files_sent; /* enum file; packets */
	uint64_t files_due_ns;
	bool changed; /* `kept` is to be kept */
};

/* --- core.c --- */
/* `kept`: what the last run left, NULL if nothing; `cause`: why this one begins; `mode`: the first
 * where nothing is known. */
void flight_start(struct flight *flight, const struct outside *outside, const struct kept *kept, enum cause cause,
		  enum mode mode, uint64_t tai_ns, uint64_t now_ns);
void flight_now(struct flight *flight, uint64_t tai_ns, uint64_t now_ns);
void flight_telecommand(struct flight *flight, const uint8_t *packet, size_t octets);
/* Another thread has told something. */
void flight_told(struct flight *flight, const struct told *told);
/* Settings of which a bit flipped: before anything reads them. */
void flight_mend(struct flight *flight);
/* What is due now; and when the next will be, by CLOCK_MONOTONIC. */
void flight_due(struct flight *flight);
uint64_t flight_next_ns(const struct flight *flight);

/* --- core.c, for the services --- */
void flight_report(struct flight *flight, enum report report, const uint8_t *data, size_t octets);
/* From a structure of packets.h. */
void flight_report_fields(struct flight *flight, enum report report, const void *fields);
void flight_event(struct flight *flight, enum event event, uint32_t value, uint32_t detail);
void flight_step(struct flight *flight, const struct telecommand *telecommand, uint8_t step);
/* Settings have been changed on purpose. */
void flight_changed(struct flight *flight);
/* A telecommand that is in the schedule: not looked at for a tag or for having come before. */
void flight_released(struct flight *flight, const uint8_t *packet, size_t octets);

/* --- mode.c --- */
void mode_start(struct flight *flight);
void mode_camera(struct flight *flight, enum camera camera);
void mode_camera_failed(struct flight *flight);
void mode_order(struct flight *flight);
enum failure mode_begin(struct flight *flight, enum pending pending, const struct request *request);
void mode_finish(struct flight *flight, enum pending pending, enum failure failure);
void mode_due(struct flight *flight); /* requests that have waited too long */
/* --- housekeeping.c, schedule.c, monitor.c: what is due, and when the next is --- */
/* Each has a value that it may have, and together they are a calibration. */
bool parameters_fit(const int32_t parameter[PARAMETER_COUNT]);
void housekeeping_due(struct flight *flight);
uint64_t housekeeping_next_ns(const struct flight *flight);
void schedule_due(struct flight *flight);
uint64_t schedule_next_ns(const struct flight *flight);
void monitor_due(struct flight *flight);

/* --- file.c --- */
/* False: it is no packet of the files' APID. */
bool file_take(struct flight *flight, const uint8_t *packet, size_t octets);
void file_read(struct flight *flight, const uint8_t *file, uint32_t octets, uint32_t crc);
void file_due(struct flight *flight);
uint64_t file_next_ns(const struct flight *flight);

#endif
