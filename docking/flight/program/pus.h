/* SPDX-License-Identifier: MIT */
/*
 * ECSS-E-ST-70-41C (PUS-C) packets: requests in, reports out. Nothing is allocated and no clock is read. What requests
 * and reports there are stands in docking/flight/packets.toml; packets.h is made from it.
 */
#ifndef FLIGHT_PUS_H
#define FLIGHT_PUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "octets.h"
#include "packets.h"

enum {
	PUS_LEAST = 13, /* octets of a telecommand without data */
	PUS_HEADER = 11, /* of a telecommand, both */
	PUS_REPORT_HEADER = 21,
	PUS_TIME_FIELD = 0x2f, /* CUC: an epoch of one's own, 4 octets of seconds, 3 of 2^-24 s */
	PUS_TIME = 8,
	PUS_COUNTER = 8,
	PUS_TAG = 16,
	PUS_ARGUMENTS_MOST = 4,
	PUS_FIELDS_MOST = 48,
};
enum { ACK_ACCEPT = 1, ACK_START = 2, ACK_PROGRESS = 4, ACK_COMPLETE = 8 };

/* Returned by a telecommand's function: it ends later, by flight_finish(). */
#define FAILURE_PENDING ((enum failure)0xffff)

struct telecommand {
	uint32_t request_id; /* the first four octets, as reports of service 1 give them back */
	uint8_t acks, service, subtype;
	uint16_t source, crc;
	const uint8_t *data;
	size_t octets; /* of the data; with a key, also of counter and tag behind them until they are checked */
};

enum argument_kind { ARGUMENT_WHOLE, ARGUMENT_SIGNED, ARGUMENT_TIME, ARGUMENT_TELECOMMAND };
struct argument {
	uint8_t kind, octets;
	int64_t least, most;
};
typedef enum failure command_function(struct flight *flight, const struct request *request);
struct command_row {
	uint8_t service, subtype;
	uint8_t has_function, function; /* the octet that tells the functions of service 8 apart */
	uint8_t arguments, entries; /* how many of each are used; with entries, the data end with a list of these */
	struct argument argument[PUS_ARGUMENTS_MOST], entry[PUS_ARGUMENTS_MOST];
	uint16_t refused[MODE_COUNT];
	command_function *run;
};
struct report_row {
	uint8_t service, subtype;
	int16_t id; /* its first octet, or -1 */
	uint8_t fields, octets[PUS_FIELDS_MOST]; /* of each field; in memory all have 32 bits */
};
struct parameter_row {
	int32_t least, most, at_first;
	uint8_t choices;
	int32_t choice[8];
};
struct limits {
	int32_t low, high;
};

/* A telecommand whose arguments and entries have the right number, size and range. Times are ns, telecommands the offset
 * of their first octet in the data. */
struct request {
	const struct command_row *command;
	struct telecommand telecommand;
	int64_t argument[PUS_ARGUMENTS_MOST];
	uint32_t count; /* of entries */
	size_t entries; /* where the first begins, from the start of the data */
};

uint8_t *pus_put_time(uint8_t *at, uint64_t ns); /* CUC, P-field 0x2f */
bool pus_get_time(const uint8_t *at, uint64_t *ns);

/* Is this a sound packet, and for us? Fills in the request id where there are four octets. */
enum failure pus_parse(const uint8_t *packet, size_t octets, struct telecommand *telecommand);
/* Which command it is, and what its data say. */
enum failure pus_understand(const struct telecommand *telecommand, struct request *request);
/* The values of the entry that begins at `*at`, and moves past it. */
void pus_entry(const struct request *request, size_t *at, int64_t values[PUS_ARGUMENTS_MOST]);

/* A report's packet from its data; `octets` of data are at most PACKET_LARGEST - PUS_REPORT_HEADER - PUS_CRC. */
struct pus_counts {
	uint16_t sequence, of_service[256];
};
size_t pus_report(uint8_t packet[PACKET_LARGEST], struct pus_counts *counts, uint8_t service, uint8_t subtype,
		  uint64_t time_ns, const uint8_t *data, size_t octets);

/* tables.c: the tables that are made. */
const struct command_row *pus_command(uint8_t service, uint8_t subtype, const uint8_t *data, size_t octets,
				      enum failure *why_not);
const struct report_row *pus_report_row(enum report report);
const struct parameter_row *pus_parameter(uint32_t parameter);
const struct limits *pus_limits(uint32_t monitor);
uint8_t pus_severity(enum event event);

#endif
