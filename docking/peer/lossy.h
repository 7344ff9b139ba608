/* SPDX-License-Identifier: MIT */
/* A way that loses packets: the kernel's netem on an interface, which no program of busybox's sets. */
#ifndef PEER_LOSSY_H
#define PEER_LOSSY_H

/* Of 100 packets that leave by it, so many never do, each by chance. 0: done; otherwise an errno. */
int lossy_make(const char *interface, unsigned percent);

#endif
