// SPDX-License-Identifier: MIT
/* As `tc qdisc replace dev INTERFACE root netem loss PERCENT%` asks for it. */
#include "lossy.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct nlmsghdr head;
	struct tcmsg of;
	struct rtattr kind;
	char name[8]; /* "netem", filled up to whole words */
	struct rtattr options;
	struct tc_netem_qopt netem;
};

struct answer {
	struct nlmsghdr head;
	struct nlmsgerr error;
};

static int asked(int kernel, const struct request *request)
{
	char said[1024];
	struct answer answer;

	if (send(kernel, request, request->head.nlmsg_len, 0) != (ssize_t)request->head.nlmsg_len)
		return errno;
	const ssize_t octets = recv(kernel, said, sizeof(said), 0);

	if (octets < 0)
		return errno;
	if ((size_t)octets < sizeof(answer))
		return EPROTO;
	memcpy(&answer, said, sizeof(answer));
	return answer.head.nlmsg_type == NLMSG_ERROR ? -answer.error.error : EPROTO;
}

int lossy_make(const char *interface, unsigned percent)
{
	static const char name[] = "netem";
	const struct request request = {
		.head = { .nlmsg_len = sizeof(request),
			  .nlmsg_type = RTM_NEWQDISC,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE },
		.of = { .tcm_family = AF_UNSPEC,
			.tcm_ifindex = (int)if_nametoindex(interface),
			.tcm_parent = TC_H_ROOT },
		.kind = { .rta_len = RTA_LENGTH(sizeof(name)), .rta_type = TCA_KIND },
		.name = "netem",
		.options = { .rta_len = RTA_LENGTH(sizeof(request.netem)), .rta_type = TCA_OPTIONS },
		.netem = { .limit = 1000, .loss = (uint32_t)((uint64_t)UINT32_MAX * percent / 100) },
	};
	const int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int error;

	if (kernel < 0)
		return errno;
	error = request.of.tcm_ifindex ? asked(kernel, &request) : ENODEV;
	close(kernel);
	return error;
}
