module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>, %arg1: tensor<5x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8x2xf32>, %arg4: tensor<2xf32>) -> (tensor<3x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<3x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<3x8xf32>
    %4 = call @relu(%3) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
    %6 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<3x2xf32>
    %8 = stablehlo.add %5, %7 : tensor<3x2xf32>
    return %8 : tensor<3x2xf32>
  }
  func.func private @relu(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
}
// bound 6e-07
// arg0 f32 3,5 193da13a2df5983ecc5b8cbed4fd63bf9ccae8be8cdc7dbf2359763d2c8cab3f7e02fcbe71d71ebf94ccfa3ee5b9b63e6de3d73d27336ebf85a1efbc
// arg1 f32 5,8 64ff313f390facbf9d4ceabe445bf3bf930fa5bff9bdebbfbbbb70beb03ba2bf29e38a3e5b83203ed36a3fbe971221c0c7e709bfeda846bd8b0ee83d7ddbc3bf149cf4be3a807abff50f4fbf87cb873f98ba4ebf7b3505bd6067623fd76615bffec3e4bd063be23d05a0823da1ce9cbf69ef9b3dededad3fd608c6bf81005c3fe26ff43d673724bfd30600407423433f4c8299bff79b983deea1133f1a5041be
// arg2 f32 8 35d32e3f3c3a88bdbcd02a3f8221b83f34f82cbf9103503ea736edbea752023e
// arg3 f32 8,2 fef597bf1c4d14bf99e748be6415663fa296923f5c69a9bfaf6d4bbf769b253f9d07ffbf9a24edbe5e3ec7bddee5a03fc67c303f8488a7befbb5bcbe9d1980be
// arg4 f32 2 0303c33f1626dbbe
// result f32 3,2 e8948ebe602c5d3c89ecf7bfd7477a408c44ae3e78748ebf
