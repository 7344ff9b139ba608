// SPDX-License-Identifier: GPL-2.0
/*
 * For a test, installed nowhere: the buses that the virtual board lacks, wired to themselves. An SPI controller whose
 * input is its output, with a device that spidev takes, and a GPIO controller whose second line follows the first.
 */
#include <linux/gpio/driver.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/spi/spi.h>

static struct platform_device *board;
static struct spi_controller *spi;
static int level;

static int echo(struct spi_controller *controller, struct spi_device *device, struct spi_transfer *transfer)
{
	if (transfer->rx_buf && transfer->tx_buf)
		memcpy(transfer->rx_buf, transfer->tx_buf, transfer->len);
	return 0;
}

static int get(struct gpio_chip *chip, unsigned int line)
{
	return level;
}

static void set(struct gpio_chip *chip, unsigned int line, int value)
{
	level = value;
}

static int as_input(struct gpio_chip *chip, unsigned int line)
{
	return line == 1 ? 0 : -EINVAL;
}

static int as_output(struct gpio_chip *chip, unsigned int line, int value)
{
	if (line != 0)
		return -EINVAL;
	level = value;
	return 0;
}

static struct gpio_chip pins = {
	.label = "wired",
	.owner = THIS_MODULE,
	.base = -1,
	.ngpio = 2,
	.get = get,
	.set = set,
	.direction_input = as_input,
	.direction_output = as_output,
};

static int add_spi(void)
{
	struct spi_board_info device = { .modalias = "dh2228fv",
					 .max_speed_hz = 1000000 }; /* a name that spidev knows */
	int error;

	spi = spi_alloc_master(&board->dev, 0);
	if (!spi)
		return -ENOMEM;
	spi->bus_num = -1;
	spi->num_chipselect = 1;
	spi->transfer_one = echo;
	error = spi_register_controller(spi);
	if (error) {
		spi_controller_put(spi);
		return error;
	}
	if (!spi_new_device(spi, &device)) {
		spi_unregister_controller(spi);
		return -ENODEV;
	}
	return 0;
}

static int __init wired_init(void)
{
	int error;

	board = platform_device_register_simple("wired", -1, NULL, 0);
	if (IS_ERR(board))
		return PTR_ERR(board);
	pins.parent = &board->dev;
	error = gpiochip_add_data(&pins, NULL);
	if (!error) {
		error = add_spi();
		if (error)
			gpiochip_remove(&pins);
	}
	if (error)
		platform_device_unregister(board);
	return error;
}

static void __exit wired_exit(void)
{
	spi_unregister_controller(spi);
	gpiochip_remove(&pins);
	platform_device_unregister(board);
}

module_init(wired_init);
module_exit(wired_exit);
MODULE_DESCRIPTION("SPI and GPIO wired to themselves, for a test");
MODULE_LICENSE("GPL");
