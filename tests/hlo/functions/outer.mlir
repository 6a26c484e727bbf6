module @jit_outer attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<4xf32>) -> (tensor<3x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<3x4xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<3x4xf32>
    return %4 : tensor<3x4xf32>
  }
}
// bound 6e-07
// arg0 f32 3 13f5b13db3e56bbff9da93be
// arg1 f32 4 aa0f473fd004a8bfc24d263fca7db23e
// result f32 3,4 65608a3d5a98e9bdf035673db127f83cfd6d37bf2dd39a3f993e19bfa079a4be87f065bef614c23ecd1940becf2dcebd
