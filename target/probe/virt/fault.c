// SPDX-License-Identifier: MIT
/* What startup.S calls for an exception that nothing handles. */
#include "rtos.h"
#include "virt_devices.h"

void machine_fault(const char *what, uintptr_t where) __attribute__((noreturn));
void machine_fault(const char *what, uintptr_t where)
{
	static const char hex[] = "0123456789abcdef";
	char place[] = " at 0x00000000";

	for (int i = 0; i < 8; i++)
		place[6 + i] = hex[where >> (28 - 4 * i) & 15];
	rtos_complain(what, place);
	switch_off();
}
