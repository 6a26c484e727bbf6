struct P { step: f32, w: u32, n: u32 }
@group(0) @binding(0) var<storage, read_write> iterations: array<u32>;
@group(0) @binding(1) var<uniform> p: P;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= p.n) { return; }
    let cx = f32(i % p.w) * p.step - 2.0;
    let cy = f32(i / p.w) * p.step - 1.5;
    var x = 0.0;
    var y = 0.0;
    var k = 0u;
    loop {
        let xx = x * x;
        let yy = y * y;
        if (xx + yy > 4.0) { break; }
        let xy = x * y;
        x = xx - yy + cx;
        y = xy + xy + cy;
        k++;
        if (k >= 256u) { break; }
    }
    iterations[i] = k;
}
