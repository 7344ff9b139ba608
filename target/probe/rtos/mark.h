/* SPDX-License-Identifier: MIT */
/*
 * The mark of an image: what rtqual learns of it before it runs. One file of a port says it once,
 *
 *	RTQUAL_MARK("Zephyr", KERNEL_VERSION_STRING, RTQUAL_TICKLESS, RTQUAL_VIRT_A15, "128",
 *		    RTQUAL_LICENCE("Apache 2") RTQUAL_USB("sources") RTQUAL_PROTECTION("none"))
 *
 * and has port_system() by it. All of it are string literals of printable ASCII: the system's name, its version, when
 * it looks at the time, the machine, the MiB of memory that it needs, and what it offers: RTQUAL_NOT_TOLD, or some of
 * the rows below. The text ends with a NUL, as the linker puts it.
 */
#ifndef RTQUAL_MARK_H
#define RTQUAL_MARK_H

#include "battery/state.h"
#include "port.h"

#define RTQUAL_TICK_US(us) "a tick every " us " us"
#define RTQUAL_TICKLESS_US(us) "tickless in steps of " us " us"
#define RTQUAL_TICKLESS "tickless" /* to the nanosecond, or nearly */

/* QEMU's board `virt` with one Cortex-A15 and the counter at 1 GHz. */
#define RTQUAL_VIRT_A15 "virt-a15"

/* What the system has: "yes" in this image, "sources" where only its sources have it, "none". */
#define RTQUAL_NOT_TOLD ""
#define RTQUAL_LICENCE(name) "licence=" name "\n"
#define RTQUAL_USB(has) "usb=" has "\n"
#define RTQUAL_WIFI(has) "wifi=" has "\n"
#define RTQUAL_PROTECTION(has) "protection=" has "\n" /* of a thread's memory from other threads */

#define RTQUAL_MARK_TEXT(system, version, tick, machine, mib, offers)                                   \
	"rtqual-probe image 2\nsystem=" system "\nversion=" version "\ntick=" tick "\nmachine=" machine \
	"\nmemory=" mib "\nbattery=" RTQUAL_BATTERY "\n" offers

/* In one object, so that what is used of it keeps the rest. */
#define RTQUAL_MARK(system, version, tick, machine, mib, offers)                                  \
	static const struct {                                                                     \
		char mark[sizeof(RTQUAL_MARK_TEXT(system, version, tick, machine, mib, offers))]; \
		char name[sizeof(system " " version ", " tick)];                                  \
	} rtqual_mark __attribute__((used)) = {                                                   \
		RTQUAL_MARK_TEXT(system, version, tick, machine, mib, offers),                    \
		system " " version ", " tick,                                                     \
	};                                                                                        \
	const char *port_system(void)                                                             \
	{                                                                                         \
		return rtqual_mark.name;                                                          \
	}                                                                                         \
	_Static_assert(sizeof(rtqual_mark.mark) <= 1024, "a mark is short")

#endif
