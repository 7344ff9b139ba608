// SPDX-License-Identifier: MIT
/* HMAC-SHA256 by the kernel (AF_ALG): well kept, and the program grows by nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "world.h"

enum { KEY_LEAST = 16, KEY_MOST = 64, SHA256_OCTETS = 32 };

bool tag_of(void *argument, const uint8_t *data, size_t octets, uint8_t tag[PUS_TAG])
{
	struct world *world = argument;
	uint8_t whole[SHA256_OCTETS];

	if (send(world->tag_socket, data, octets, 0) != (ssize_t)octets ||
	    read(world->tag_socket, whole, sizeof(whole)) != SHA256_OCTETS)
		return false;
	memcpy(tag, whole, PUS_TAG);
	return true;
}

void tag_ready(struct world *world)
{
	const struct sockaddr_alg address = { .salg_family = AF_ALG, .salg_type = "hash", .salg_name = "hmac(sha256)" };
	const char *path = world->options.key;
	uint8_t key[KEY_MOST + 1];
	long long bytes;
	int fd, algorithm;

	world->tag_socket = -1;
	if (!path)
		return;
	fd = open_file("--key=", path, &bytes);
	if (bytes < KEY_LEAST || bytes > KEY_MOST || read(fd, key, sizeof(key)) != bytes)
		die(BAD_INPUT, "--key=%s: a key has %d to %d octets", path, KEY_LEAST, KEY_MOST);
	close(fd);
	algorithm = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (algorithm < 0 || bind(algorithm, (const struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(algorithm, SOL_ALG, ALG_SET_KEY, key, (socklen_t)bytes))
		die(RUN_FAILED,
		    "--key: the kernel has no hmac(sha256) for programs (CRYPTO_USER_API_HASH, module algif_hash): %s",
		    strerror(errno));
	world->tag_socket = accept4(algorithm, NULL, NULL, SOCK_CLOEXEC);
	if (world->tag_socket < 0)
		die(RUN_FAILED, "--key: %s", strerror(errno));
	close(algorithm);
	explicit_bzero(key, sizeof(key));
}
