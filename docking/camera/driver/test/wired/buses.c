// SPDX-License-Identifier: MIT
/*
 * Uses each bus as a flight program does: buses i2c NODE ADDRESS | spi NODE | gpio LABEL. On I2C two bytes are written
 * to a memory and read back; on SPI what is sent comes back; of a GPIO controller line 1 follows line 0.
 */
#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <linux/spi/spidev.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int smbus(int node, uint8_t direction, uint8_t command, union i2c_smbus_data *data)
{
	struct i2c_smbus_ioctl_data call = { direction, command, I2C_SMBUS_BYTE_DATA, data };

	return ioctl(node, I2C_SMBUS, &call);
}

static int try_i2c(const char *name, const char *address)
{
	int node = open(name, O_RDWR);

	if (node < 0 || ioctl(node, I2C_SLAVE, strtoul(address, NULL, 0)))
		return fail(name);
	for (unsigned int i = 0; i < 2; i++) {
		union i2c_smbus_data out = { .byte = i ? 0xa5 : 0x5a }, in = { .byte = 0 };

		if (smbus(node, I2C_SMBUS_WRITE, 16 + i, &out) || smbus(node, I2C_SMBUS_READ, 16 + i, &in))
			return fail("I2C_SMBUS");
		printf("i2c %02x %02x\n", out.byte, in.byte);
	}
	return close(node);
}

static int try_spi(const char *name)
{
	uint8_t out[4] = { 0x01, 0x80, 0xff, 0x3c }, in[4] = { 0 };
	struct spi_ioc_transfer transfer = { .tx_buf = (uintptr_t)out, .rx_buf = (uintptr_t)in, .len = sizeof(out) };
	int node = open(name, O_RDWR);

	if (node < 0 || ioctl(node, SPI_IOC_MESSAGE(1), &transfer) != (int)sizeof(out))
		return fail(name);
	printf("spi %02x%02x%02x%02x\n", in[0], in[1], in[2], in[3]);
	return close(node);
}

static int controller(const char *label)
{
	for (unsigned int i = 0; i < 16; i++) {
		struct gpiochip_info info = { 0 };
		char name[32];
		int node;

		snprintf(name, sizeof(name), "/dev/gpiochip%u", i);
		node = open(name, O_RDWR);
		if (node >= 0 && !ioctl(node, GPIO_GET_CHIPINFO_IOCTL, &info) && !strcmp(info.label, label))
			return node;
		if (node >= 0)
			close(node);
	}
	return -1;
}

static int line(int node, unsigned int number, uint64_t flags)
{
	struct gpio_v2_line_request request = { .offsets = { number }, .num_lines = 1, .config.flags = flags };

	return ioctl(node, GPIO_V2_GET_LINE_IOCTL, &request) ? -1 : request.fd;
}

static int try_gpio(const char *label)
{
	int node = controller(label), out, in;

	if (node < 0)
		return fail(label);
	out = line(node, 0, GPIO_V2_LINE_FLAG_OUTPUT);
	in = line(node, 1, GPIO_V2_LINE_FLAG_INPUT);
	for (unsigned int i = 0; i < 3; i++) {
		struct gpio_v2_line_values set = { .bits = i & 1, .mask = 1 }, seen = { .mask = 1 };

		if (ioctl(out, GPIO_V2_LINE_SET_VALUES_IOCTL, &set) || ioctl(in, GPIO_V2_LINE_GET_VALUES_IOCTL, &seen))
			return fail("GPIO_V2_LINE");
		printf("gpio %u %u\n", (unsigned int)set.bits, (unsigned int)seen.bits);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "i2c"))
		return try_i2c(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "spi"))
		return try_spi(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "gpio"))
		return try_gpio(argv[2]);
	fprintf(stderr, "usage: buses i2c NODE ADDRESS | spi NODE | gpio LABEL\n");
	return 2;
}
