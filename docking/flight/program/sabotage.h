/* SPDX-License-Identifier: MIT */
/* Faults built in on purpose, one in each of the programs `make sabotaged` builds: tests of tests. A flight program has
 * none. */
#ifndef FLIGHT_SABOTAGE_H
#define FLIGHT_SABOTAGE_H

#ifndef SABOTAGE
#define SABOTAGE 0
#endif
enum {
	SABOTAGE_ACKNOWLEDGES = SABOTAGE == 1, /* telecommands are acknowledged, and nothing is done */
	SABOTAGE_WATCHDOG = SABOTAGE == 2, /* never fed */
	SABOTAGE_LOSES = SABOTAGE == 3, /* every hundredth frame, in silence */
	SABOTAGE_DUPLICATES = SABOTAGE == 4, /* are run */
	SABOTAGE_FORGETS = SABOTAGE == 5, /* what a restart is to keep */
	SABOTAGE_LEAKS = SABOTAGE == 6, /* 80 KiB a second */
	SABOTAGE_ALTERS = SABOTAGE == 7, /* an octet of a file that goes down, before its checksum */
	SABOTAGE_DEAF = SABOTAGE == 8, /* to what a receiver of files asks for again */
	SABOTAGE_CREDULOUS = SABOTAGE == 9, /* takes any tag for a right one */
};

#endif
