// SPDX-License-Identifier: MIT
/* Sends the device whatever a host could send, and checks its answers: each URB is answered at most once, with no more
 * bytes than it asked for. `ds325-emulator-fuzz SEED ROUNDS` makes the input; libFuzzer and files bring their own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "device.h"
#include "random.h"
#include "usbip.h"

enum { FIRST_NUMBER = 1, NUMBERS = 1024, MESSAGES_MOST = 64, INPUT_MOST = MESSAGES_MOST * (USBIP_HEADER + 64) };

/* What the host asks for in one connection, by URB number: how often, and at most how many bytes. */
struct host {
	struct {
		uint32_t times, most;
	} asked[NUMBERS];
};

static void bug(const char *what, uint32_t number)
{
	fprintf(stderr, "URB %u: %s\n", number, what);
	abort();
}

static int receive(void *with, const struct iovec *parts, int count)
{
	struct host *host = with;
	const uint8_t *header = parts[0].iov_base;
	uint32_t number = get_be32(header + 4), length = get_be32(header + 24);
	size_t data = 0;

	for (int i = 1; i < count; i++)
		data += parts[i].iov_len;
	if (parts[0].iov_len != USBIP_HEADER)
		bug("an answer that does not begin with a header", number);
	if (get_be32(header) == 4) /* to UNLINK */
		return 0;
	if (number >= NUMBERS)
		return 0;
	if (!host->asked[number].times--)
		bug("an answer that nobody asked for", number);
	if (length > host->asked[number].most)
		bug("more than was asked for", number);
	if (data && data != length)
		bug("other bytes than the header says", number);
	return 0;
}

static uint64_t no_time(void)
{
	return 0;
}

/* Notes each request as the device reads it. */
static void note(struct host *host, const uint8_t *bytes, uint32_t size)
{
	struct usbip_request request;
	const char *why;
	int step;

	while ((step = usbip_parse(bytes, size, &request, &why)) > 0) {
		if (request.command == USBIP_SUBMIT && request.number < NUMBERS) {
			host->asked[request.number].times++;
			if (request.length > host->asked[request.number].most)
				host->asked[request.number].most = request.length;
		}
		bytes += step;
		size -= (uint32_t)step;
	}
}

/* Returns how many frames reached the host. */
static uint64_t play(const uint8_t *bytes, uint32_t size)
{
	static uint8_t frame[DS325_FRAME_BYTES], scratch[2][DS325_FRAME_BYTES];
	static struct lens lens;
	struct settings settings = { .unthrottled = true, .stamp = true, .confidence = 10 };
	struct frames frames = { .count = 1, .iq = frame, .modulation_hz = 5e7, .lens = &lens, .scratch = scratch[0] };
	struct faults faults = { 0 };
	struct log log = { 0 };
	struct host host = { 0 };
	static struct device device;
	uint32_t at = 0, have = 0, chunk = 1;

	device = (struct device){ .settings = &settings,
				  .frames = &frames,
				  .faults = &faults,
				  .log = &log,
				  .scratch = scratch[1],
				  .send = receive,
				  .with = &host };
	for (int kind = FAULT_DROP; kind < FAULT_UNPLUG; kind++)
		faults_add(&faults, &(struct fault){ (enum fault_kind)kind, (uint64_t)kind, 100 });
	device_plug(&device);
	note(&host, bytes, size);
	while (at + have < size) {
		int taken;

		have += chunk < size - at - have ? chunk : size - at - have;
		chunk = chunk * 3 % 251 + 1;
		taken = device_receive(&device, bytes + at, have);
		if (taken < 0)
			break;
		at += (uint32_t)taken;
		have -= (uint32_t)taken;
		device_pump(&device, 0, no_time);
	}
	return log.sent;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	play(bytes, (uint32_t)(size < INPUT_MOST ? size : INPUT_MOST));
	return 0;
}

#ifndef LIBFUZZER
/* Messages that are nearly right get further into the device than noise. */
static uint32_t message(struct random *random, uint32_t number, uint8_t *out)
{
	static const uint8_t requests[] = { 0, 1, 3, 6, 8, 9, 10, 11, 48, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87 };
	uint64_t dice = random_next(random);
	bool bulk = dice % 3 == 0, unlink = dice % 16 == 1;
	uint8_t *setup = out + 40;
	uint32_t length = (uint32_t)(dice >> 8) % 64;
	bool in;

	memset(out, 0, USBIP_HEADER + 64);
	setup[0] = (uint8_t[]){ 0x00, 0x80, 0x01, 0x81, 0x02, 0x82, 0x21, 0xa1 }[dice >> 16 & 7];
	setup[1] = requests[dice >> 20 & 15];
	put_le16(setup + 2, (uint32_t)(dice >> 24 & 0x0fff));
	put_le16(setup + 4, (uint32_t[]){ 0, 1, 0x0600, DS325_ENDPOINT }[dice >> 36 & 3]);
	if (dice % 8 == 4) { /* COMMIT: a stream begins */
		memcpy(setup, (const uint8_t[]){ 0x21, 0x01, 0, 2, 1, 0 }, 6);
		length = 34;
	}
	put_le16(setup + 6, length);
	in = bulk || setup[0] & 0x80;
	put_be32(out, unlink ? USBIP_UNLINK : USBIP_SUBMIT);
	put_be32(out + 4, FIRST_NUMBER + number);
	put_be32(out + 12, in);
	put_be32(out + 16, bulk ? DS325_ENDPOINT & 15 : 0);
	put_be32(out + 20, unlink ? FIRST_NUMBER + (uint32_t)(dice >> 40) % (number + 1) : 0);
	put_be32(out + 24, bulk ? dice >> 63 ? (uint32_t)(dice >> 40) % 512 : 1 << 19 : length);
	for (int i = USBIP_HEADER; i < USBIP_HEADER + 64; i++)
		out[i] = (uint8_t)random_next(random);
	if (dice % 64 == 7) /* sometimes with a wrong byte */
		out[(dice >> 40) % USBIP_HEADER] ^= (uint8_t)(dice >> 48);
	return USBIP_HEADER + (in || unlink ? 0 : length);
}

int main(int argc, char **argv)
{
	static uint8_t input[INPUT_MOST];
	uint64_t rounds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, bytes = 0, frames = 0;
	struct random random;

	if (!rounds)
		return 2;
	for (uint64_t round = 0; round < rounds; round++) {
		uint32_t size = 0;

		random_seed(&random, strtoull(argv[1], NULL, 10), round);
		for (uint32_t n = 0; n < MESSAGES_MOST; n++)
			size += message(&random, n, input + size);
		frames += play(input, size);
		bytes += size;
	}
	printf("%llu inputs, %llu bytes, %llu frames\n", (unsigned long long)rounds, (unsigned long long)bytes,
	       (unsigned long long)frames);
	return 0;
}
#endif
