__constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define RIGHT(x, n) rotate(x, (uint)(32 - n))
#define TURNED(x) (RIGHT(x, 8) & 0xff00ff00 | RIGHT(x, 24) & 0x00ff00ff)
void compress(uint *hash, uint *w) {
    uint s[8];
    for (int i = 0; i < 8; i++) s[i] = hash[i];
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint p = w[(i + 1) & 15], q = w[(i + 14) & 15];
            w[i & 15] += (RIGHT(p, 7) ^ RIGHT(p, 18) ^ p >> 3) + w[(i + 9) & 15] + (RIGHT(q, 17) ^ RIGHT(q, 19) ^ q >> 10);
        }
        uint e = s[4], a = s[0];
        uint t = s[7] + (RIGHT(e, 6) ^ RIGHT(e, 11) ^ RIGHT(e, 25)) + bitselect(s[6], s[5], e) + K[i] + w[i & 15];
        uint u = (RIGHT(a, 2) ^ RIGHT(a, 13) ^ RIGHT(a, 22)) + ((a & s[1]) | ((a | s[1]) & s[2]));
        s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = a, s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) hash[i] += s[i];
}
__kernel void sha256(__global const uint *m, __global uint *d, uint n) {
    uint at = get_global_id(0), w[16];
    uint hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    if (at >= n) return;
    for (int i = 0; i < 16; i++) w[i] = TURNED(m[at * 16 + i]);
    compress(hash, w);
    w[0] = 0x80000000;
    for (int i = 1; i < 15; i++) w[i] = 0;
    w[15] = 512;
    compress(hash, w);
    for (int i = 0; i < 8; i++) d[at * 8 + i] = TURNED(hash[i]);
}
