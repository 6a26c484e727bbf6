module @jit_shapes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5xf32>) -> (tensor<4x10xf32> {jax.result_info = "result[0]"}, tensor<7x6xf32> {jax.result_info = "result[1]"}, tensor<8x12xf32> {jax.result_info = "result[2]"}, tensor<2x3xf32> {jax.result_info = "result[3]"}, tensor<2x10xf32> {jax.result_info = "result[4]"}, tensor<4x5xf32> {jax.result_info = "result[5]"}, tensor<4x5xf32> {jax.result_info = "result[6]"}, tensor<8x5xf32> {jax.result_info = "result[7]"}, tensor<4x2x5xf32> {jax.result_info = "result[8]"}) {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<4x5xf32>
    %1 = stablehlo.concatenate %arg0, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %2 = call @_pad(%arg0, %c) : (tensor<4x5xf32>, tensor<i32>) -> tensor<7x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %arg0, %cst, low = [-1, 0], high = [2, -1], interior = [1, 2] : (tensor<4x5xf32>, tensor<f32>) -> tensor<8x12xf32>
    %4 = stablehlo.slice %arg0 [1:3, 0:5:2] : (tensor<4x5xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %6 = stablehlo.reshape %5 : (tensor<5x4xf32>) -> tensor<2x10xf32>
    %7 = call @_flip(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %8 = call @_roll_static(%arg0) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %9 = stablehlo.reshape %arg0 : (tensor<4x5xf32>) -> tensor<1x4x1x5xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x4x1x5xf32>) -> tensor<2x4x1x5xf32>
    %11 = stablehlo.reshape %10 : (tensor<2x4x1x5xf32>) -> tensor<8x5xf32>
    %12 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x5xf32>) -> tensor<4x1x5xf32>
    %13 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x5xf32>) -> tensor<4x1x5xf32>
    %14 = stablehlo.concatenate %12, %13, dim = 1 : (tensor<4x1x5xf32>, tensor<4x1x5xf32>) -> tensor<4x2x5xf32>
    return %1, %2, %3, %4, %6, %7, %8, %11, %14 : tensor<4x10xf32>, tensor<7x6xf32>, tensor<8x12xf32>, tensor<2x3xf32>, tensor<2x10xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<8x5xf32>, tensor<4x2x5xf32>
  }
  func.func private @_pad(%arg0: tensor<4x5xf32>, %arg1: tensor<i32>) -> tensor<7x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 1], interior = [0, 0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<7x6xf32>
    return %1 : tensor<7x6xf32>
  }
  func.func private @_flip(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
  func.func private @_roll_static(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = stablehlo.slice %arg0 [3:4, 0:5] : (tensor<4x5xf32>) -> tensor<1x5xf32>
    %1 = stablehlo.slice %arg0 [0:3, 0:5] : (tensor<4x5xf32>) -> tensor<3x5xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x5xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    return %2 : tensor<4x5xf32>
  }
}
// bound 0
// arg0 f32 4,5 97f47bbf19724b3e149a983f8b45f8be324291bf53cb0140d422e7becbd19dbfaa61733e11f3d93e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e1e51453f174422bfc147a93e8b78bfbd85c33440
// result0 f32 4,10 97f47bbf19724b3e149a983f8b45f8be324291bf1e51453f174422bfc147a93e8b78bfbd85c3344053cb0140d422e7becbd19dbfaa61733e11f3d93e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e53cb0140d422e7becbd19dbfaa61733e11f3d93e1e51453f174422bfc147a93e8b78bfbd85c3344097f47bbf19724b3e149a983f8b45f8be324291bf
// result1 f32 7,6 0000e0400000e0400000e0400000e0400000e0400000e04097f47bbf19724b3e149a983f8b45f8be324291bf0000e04053cb0140d422e7becbd19dbfaa61733e11f3d93e0000e0402a7e34bf2a5b4a3fef81f9be83466cbf86e0363e0000e0401e51453f174422bfc147a93e8b78bfbd85c334400000e0400000e0400000e0400000e0400000e0400000e0400000e0400000e0400000e0400000e0400000e0400000e0400000e040
// result2 f32 8,12 0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f53cb01400000803f0000803fd422e7be0000803f0000803fcbd19dbf0000803f0000803faa61733e0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f2a7e34bf0000803f0000803f2a5b4a3f0000803f0000803fef81f9be0000803f0000803f83466cbf0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f1e51453f0000803f0000803f174422bf0000803f0000803fc147a93e0000803f0000803f8b78bfbd0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f
// result3 f32 2,3 53cb0140cbd19dbf11f3d93e2a7e34bfef81f9be86e0363e
// result4 f32 2,10 97f47bbf53cb01402a7e34bf1e51453f19724b3ed422e7be2a5b4a3f174422bf149a983fcbd19dbfef81f9bec147a93e8b45f8beaa61733e83466cbf8b78bfbd324291bf11f3d93e86e0363e85c33440
// result5 f32 4,5 85c334408b78bfbdc147a93e174422bf1e51453f86e0363e83466cbfef81f9be2a5b4a3f2a7e34bf11f3d93eaa61733ecbd19dbfd422e7be53cb0140324291bf8b45f8be149a983f19724b3e97f47bbf
// result6 f32 4,5 1e51453f174422bfc147a93e8b78bfbd85c3344097f47bbf19724b3e149a983f8b45f8be324291bf53cb0140d422e7becbd19dbfaa61733e11f3d93e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e
// result7 f32 8,5 97f47bbf19724b3e149a983f8b45f8be324291bf53cb0140d422e7becbd19dbfaa61733e11f3d93e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e1e51453f174422bfc147a93e8b78bfbd85c3344097f47bbf19724b3e149a983f8b45f8be324291bf53cb0140d422e7becbd19dbfaa61733e11f3d93e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e1e51453f174422bfc147a93e8b78bfbd85c33440
// result8 f32 4,2,5 97f47bbf19724b3e149a983f8b45f8be324291bf97f47bbf19724b3e149a983f8b45f8be324291bf53cb0140d422e7becbd19dbfaa61733e11f3d93e53cb0140d422e7becbd19dbfaa61733e11f3d93e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e2a7e34bf2a5b4a3fef81f9be83466cbf86e0363e1e51453f174422bfc147a93e8b78bfbd85c334401e51453f174422bfc147a93e8b78bfbd85c33440
