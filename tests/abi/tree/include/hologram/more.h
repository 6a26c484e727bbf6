/* A header that goes. */
#ifndef HOLOGRAM_MORE_H
#define HOLOGRAM_MORE_H

enum { HG_MORE = 3 };

#endif
