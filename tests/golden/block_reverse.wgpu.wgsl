/* Written by hologram: WGSL.
block_reverse, for blocks of 8 x 1 x 1 lanes
block_reverse, slot 0, binding 0: input 0, x
block_reverse, slot 1, binding 1: the fault record
 */

@group(0) @binding(0) var<storage, read_write> binding0: array<u32>;
@group(0) @binding(1) var<storage, read_write> binding1: array<atomic<u32>>;
/* What a launch tells every lane. */
struct Record {
    shared_bytes_0: u32,
    lanes_0: u32,
    box_2: u32,
    grid_dim_1: u32,
    box_1: u32,
    grid_dim_0: u32,
    box_0: u32,
    input_4: u32,
    input_5: u32,
    unused_36: u32,
}
@group(0) @binding(2) var<uniform> record: Record;
var<workgroup> group_memory: array<u32, 12>;

fn fn_1(id_local_x: u32, id_local_y: u32, id_local_z: u32, id_group_x: u32, id_group_y: u32, id_group_z: u32, a0: u32, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32) {
    let v6 = id_local_z;
    let v8 = id_local_y;
    let v9 = v6 + v8;
    let v11 = v9 * 8u;
    let v12 = id_local_x;
    let v13 = v11 + v12;
    let v14 = record.box_2;
    let v15 = id_group_z;
    let v16 = v14 + v15;
    let v17 = record.grid_dim_1;
    let v18 = record.box_1;
    let v19 = id_group_y;
    let v20 = v18 + v19;
    let v21 = v16 * v17;
    let v22 = v21 + v20;
    let v23 = record.grid_dim_0;
    let v24 = record.box_0;
    let v25 = id_group_x;
    let v26 = v24 + v25;
    let v27 = v22 * v23;
    let v28 = v27 + v26;
    let v30 = v28 * 8u;
    let v31 = v30 + v13;
    let v32 = a5 == 0u;
    if (v32) {
        let v35 = atomicMin(&binding1[1u], v31);
        let v36 = v35 < v31;
        if (v36) {
            return;
        }
    }
    loop {
        var v40: u32;
        loop {
            let exchanged40 = atomicCompareExchangeWeak(&binding1[0u], 0u, 1u);
            v40 = exchanged40.old_value;
            if (exchanged40.exchanged || v40 != 0u) { break; }
        }
        let v41 = v40 == 0u;
        if (v41) {
            let v44 = atomicLoad(&binding1[2u]);
            let v46 = atomicLoad(&binding1[6u]);
            let v47 = v31 < v46;
            let v49 = atomicLoad(&binding1[4u]);
            let v50 = a5 < v49;
            let v51 = a5 == v49;
            let v52 = v51 & v47;
            let v53 = v50 | v52;
            let v54 = v44 == 0u;
            let v55 = v54 | v53;
            if (v55) {
                atomicStore(&binding1[3u], a0);
                atomicStore(&binding1[4u], a5);
                atomicStore(&binding1[6u], v31);
                atomicStore(&binding1[7u], 0u);
                atomicStore(&binding1[8u], a1);
                atomicStore(&binding1[9u], a2);
                atomicStore(&binding1[10u], a3);
                atomicStore(&binding1[11u], a4);
                atomicStore(&binding1[2u], 1u);
            }
            atomicExchange(&binding1[0u], 0u);
        }
        if (v41) {
            break;
        }
    }
}

@compute @workgroup_size(8, 1, 1)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>) {
    let id_local_x = local_id.x;
    let id_local_y = local_id.y;
    let id_local_z = local_id.z;
    let id_group_x = group_id.x;
    let id_group_y = group_id.y;
    let id_group_z = group_id.z;
    var x21: u32; // at
    var x22: bool; // stopped
    var x23: u32; // phase
    var x24: u32; // sync
    var x25: u32;
    let v4 = record.shared_bytes_0;
    let v6 = v4 + 16u;
    let v7 = id_local_z;
    let v8 = id_local_y;
    let v9 = v7 + v8;
    let v10 = v9 * 8u;
    let v11 = id_local_x;
    let v12 = v10 + v11;
    let v13 = v12 << 2u;
    x21 = v13;
    loop {
        let v16 = x21;
        let v17 = v16 < v6;
        let v19 = !v17;
        if (v19) {
            break;
        }
        group_memory[v16 >> 2u] = 0u;
        let v24 = v16 + 32u;
        x21 = v24;
    }
    workgroupBarrier(); // barrier 0
    let v27 = record.lanes_0;
    let v29 = record.box_2;
    let v30 = id_group_z;
    let v31 = v29 + v30;
    let v32 = record.grid_dim_1;
    let v33 = record.box_1;
    let v34 = id_group_y;
    let v35 = v33 + v34;
    let v36 = v31 * v32;
    let v37 = v36 + v35;
    let v38 = record.grid_dim_0;
    let v39 = record.box_0;
    let v40 = id_group_x;
    let v41 = v39 + v40;
    let v42 = v37 * v38;
    let v43 = v42 + v41;
    let v44 = v43 * 8u;
    let v45 = v44 + v12;
    let v46 = v45 < v27;
    let v48 = !v46;
    if (v48) {
        x22 = true;
    }
    let v51 = record.input_4;
    let v52 = record.input_5;
    // axis.u64 r1, r255, [buf(r0)], 0
    let v53 = 0u < v52;
    let v54 = 0u == v52;
    let v55 = v45 < v51;
    let v56 = v54 & v55;
    let v57 = v53 | v56;
    let v58 = !v57;
    if (v58) {
        let v60 = x22;
        let v61 = !v60;
        if (v61) {
            let v63 = x23;
            fn_1(id_local_x, id_local_y, id_local_z, id_group_x, id_group_y, id_group_z, 0u, v45, 0u, v51, v52, v63);
            let v65 = x24;
            let v66 = v65 + 1u;
            group_memory[0u] = v66;
            x22 = true;
        }
    }
    // ldg.i32 r1, [r0 + r1*4]
    let v69 = v45 << 2u;
    x25 = 0u;
    let v71 = x22;
    let v72 = !v71;
    if (v72) {
        let v74 = binding0[v69 >> 2u];
        x25 = v74;
    }
    let v76 = x25;
    // axis.u32 r2, r252, [shared + 0], 0, extent=8
    let v77 = v11 < 8u;
    let v78 = !v77;
    if (v78) {
        if (v72) {
            let v81 = x23;
            fn_1(id_local_x, id_local_y, id_local_z, id_group_x, id_group_y, id_group_z, 1u, v11, 0u, 8u, 0u, v81);
            let v83 = x24;
            let v84 = v83 + 1u;
            group_memory[0u] = v84;
            x22 = true;
        }
    }
    // sts.i32 [shared + r2*4], r1
    let v87 = v11 << 2u;
    let v88 = v87 + 16u;
    let v89 = x22;
    let v90 = !v89;
    if (v90) {
        group_memory[v88 >> 2u] = v76;
    }
    // bar.sync 0
    let v93 = x24;
    let v94 = v93 + 1u;
    storageBarrier(); workgroupBarrier(); // barrier 0
    let v96 = workgroupUniformLoad(&group_memory[0u]);
    let v97 = v96 - 1u;
    let v98 = v97 < v94;
    if (v98) {
        return;
    }
    let v101 = x23;
    let v102 = v101 + 1u;
    if (v89) {
        return;
    }
    // sub.u32 r1, r254, r1
    // sub.u32 r1, r1, r252
    let v106 = 7u - v11;
    // axis.u32 r1, r1, [shared + 0], 0, extent=8
    let v107 = v106 < 8u;
    let v108 = !v107;
    if (v108) {
        fn_1(id_local_x, id_local_y, id_local_z, id_group_x, id_group_y, id_group_z, 2u, v106, 0u, 8u, 0u, v102);
        return;
    }
    // lds.i32 r1, [shared + r1*4]
    let v112 = v106 << 2u;
    let v113 = v112 + 16u;
    let v114 = group_memory[v113 >> 2u];
    // stg.i32 [r0 + r2*4], r1
    binding0[v69 >> 2u] = v114;
}

