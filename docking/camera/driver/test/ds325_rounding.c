// SPDX-License-Identifier: MIT
/* ds325_rounding MODULE PARAMETERS: load a module from a program that rounds its divisions upwards, and check that it
 * still does afterwards.
 */
#include <fcntl.h>
#include <fenv.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int module = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (module < 0 || fesetround(FE_UPWARD) || syscall(SYS_finit_module, module, argv[2], 0)) {
		perror("ds325_rounding");
		return 1;
	}
	return fegetround() != FE_UPWARD;
}
