// SPDX-License-Identifier: MIT
#include <string.h>

#include "pus.h"

uint8_t *pus_put_time(uint8_t *at, uint64_t ns)
{
	*at++ = PUS_TIME_FIELD;
	at = pus_put(at, (uint32_t)(ns / 1000000000), 4);
	return pus_put(at, (uint32_t)(((ns % 1000000000) << 24) / 1000000000), 3);
}

bool pus_get_time(const uint8_t *at, uint64_t *ns)
{
	*ns = pus_get(at + 1, 4) * 1000000000ull + ((pus_get(at + 5, 3) * 1000000000ull + (1 << 23)) >> 24);
	return *at == PUS_TIME_FIELD;
}

enum failure pus_parse(const uint8_t *packet, size_t octets, struct telecommand *telecommand)
{
	*telecommand = (struct telecommand){ 0 };
	if (octets < 4)
		return FAILURE_BAD_LENGTH;
	telecommand->request_id = pus_get(packet, 4);
	if (octets < PUS_LEAST || octets > PACKET_LARGEST || pus_length(packet) != octets)
		return FAILURE_BAD_LENGTH;
	if (pus_crc(packet, octets))
		return FAILURE_BAD_CRC;
	if (packet[0] >> 3 != 3 || packet[6] >> 4 != 2) /* version 0, a telecommand, with a secondary header; PUS-C */
		return FAILURE_BAD_VERSION;
	if ((pus_get(packet, 2) & 0x7ff) != PACKET_APID)
		return FAILURE_BAD_APID;
	if (packet[2] >> 6 != 3)
		return FAILURE_BAD_FLAGS;
	telecommand->acks = packet[6] & 15;
	telecommand->service = packet[7];
	telecommand->subtype = packet[8];
	telecommand->source = (uint16_t)pus_get(packet + 9, 2);
	telecommand->crc = (uint16_t)pus_get(packet + octets - PUS_CRC, PUS_CRC);
	telecommand->data = packet + PUS_HEADER;
	telecommand->octets = octets - PUS_HEADER - PUS_CRC;
	return FAILURE_NONE;
}

/* One value from `*at` on; false where it does not fit or is out of its range. */
static bool value(const struct argument *argument, const uint8_t *data, size_t octets, size_t *at, int64_t *found)
{
	size_t size = argument->octets, left = octets - *at;
	uint64_t ns;

	if (left < size)
		return false;
	switch ((enum argument_kind)argument->kind) {
	case ARGUMENT_TIME:
		if (!pus_get_time(data + *at, &ns))
			return false;
		*found = (int64_t)ns;
		break;
	case ARGUMENT_TELECOMMAND:
		size = pus_length(data + *at);
		if (size < PUS_LEAST || left < size)
			return false;
		*found = (int64_t)*at;
		break;
	default:
		*found = pus_get(data + *at, size);
		if (argument->kind == ARGUMENT_SIGNED)
			*found = (int32_t)*found;
		if (*found < argument->least || *found > argument->most)
			return false;
	}
	*at += size;
	return true;
}

enum failure pus_understand(const struct telecommand *telecommand, struct request *request)
{
	enum failure failure;
	const struct command_row *command = pus_command(telecommand->service, telecommand->subtype, telecommand->data,
							telecommand->octets, &failure);
	size_t at = 0;
	int64_t unused;

	*request = (struct request){ .command = command, .telecommand = *telecommand };
	if (!command)
		return failure;
	at += command->has_function;
	for (int one = 0; one < command->arguments; one++)
		if (!value(&command->argument[one], telecommand->data, telecommand->octets, &at,
			   &request->argument[one]))
			return FAILURE_BAD_ARGUMENT;
	if (command->entries) {
		if (at == telecommand->octets || !telecommand->data[at])
			return FAILURE_BAD_ARGUMENT;
		request->count = telecommand->data[at++];
		request->entries = at;
		for (uint32_t entry = 0; entry < request->count; entry++)
			for (int one = 0; one < command->entries; one++)
				if (!value(&command->entry[one], telecommand->data, telecommand->octets, &at, &unused))
					return FAILURE_BAD_ARGUMENT;
	}
	return at == telecommand->octets ? FAILURE_NONE : FAILURE_BAD_ARGUMENT;
}

void pus_entry(const struct request *request, size_t *at, int64_t values[PUS_ARGUMENTS_MOST])
{
	for (int one = 0; one < request->command->entries; one++)
		value(&request->command->entry[one], request->telecommand.data, request->telecommand.octets, at,
		      &values[one]);
}

size_t pus_report(uint8_t packet[PACKET_LARGEST], struct pus_counts *counts, uint8_t service, uint8_t subtype,
		  uint64_t time_ns, const uint8_t *data, size_t octets)
{
	const size_t length = PUS_REPORT_HEADER + octets + PUS_CRC;
	uint8_t *at = packet;

	at = pus_put(at, 0x0800 | PACKET_APID, 2);
	at = pus_put(at, 0xc000u | (counts->sequence++ & 0x3fff), 2);
	at = pus_put(at, (uint32_t)length - 7, 2);
	*at++ = 0x20;
	*at++ = service;
	*at++ = subtype;
	at = pus_put(at, counts->of_service[service]++, 2);
	at = pus_put(at, 0, 2); /* destination */
	at = pus_put_time(at, time_ns);
	if (octets)
		memcpy(at, data, octets);
	pus_put(at + octets, pus_crc(packet, length - PUS_CRC), PUS_CRC);
	return length;
}
