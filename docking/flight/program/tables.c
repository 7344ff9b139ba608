// SPDX-License-Identifier: MIT
/* The tables that are made from docking/flight/packets.toml. */
#include "pus.h"

#define PACKETS_TABLES /* which need what pus.h defines */
#include "packets.h"

const struct command_row *pus_command(uint8_t service, uint8_t subtype, const uint8_t *data, size_t octets,
				      enum failure *why_not)
{
	*why_not = FAILURE_BAD_SERVICE;
	for (int one = 0; one < COMMAND_COUNT; one++) {
		const struct command_row *command = &commands[one];

		if (command->service != service)
			continue;
		if (*why_not == FAILURE_BAD_SERVICE)
			*why_not = FAILURE_BAD_SUBTYPE;
		if (command->subtype == subtype && (!command->has_function || (octets && *data == command->function)))
			return command;
	}
	return NULL;
}

const struct report_row *pus_report_row(enum report report)
{
	return &reports[report];
}

const struct parameter_row *pus_parameter(uint32_t parameter)
{
	return &parameters[parameter];
}

const struct limits *pus_limits(uint32_t monitor)
{
	return &monitors[monitor];
}

uint8_t pus_severity(enum event event)
{
	return severities[event - EVENT_FIRST];
}
