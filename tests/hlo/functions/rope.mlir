module @jit_rope attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<3x2xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:2, 0:3, 0:4:2] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<2x3x2xf32>
    %4 = stablehlo.slice %arg0 [0:2, 0:3, 1:4:2] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
    %5 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
    %7 = stablehlo.multiply %4, %6 : tensor<2x3x2xf32>
    %8 = stablehlo.subtract %3, %7 : tensor<2x3x2xf32>
    %9 = stablehlo.slice %arg0 [0:2, 0:3, 0:4:2] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
    %10 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<2x3x2xf32>
    %13 = stablehlo.slice %arg0 [0:2, 0:3, 1:4:2] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
    %14 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
    %16 = stablehlo.multiply %13, %15 : tensor<2x3x2xf32>
    %17 = stablehlo.add %12, %16 : tensor<2x3x2xf32>
    %18 = stablehlo.concatenate %8, %17, dim = 2 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
    return %18 : tensor<2x3x4xf32>
  }
}
// bound 6e-07
// arg0 f32 2,3,4 221ca43fd3a585be1fba8fbea12f78bf6a31efbfb987c3be74f22fbf5f04fd3e1973bcbf1a3fb73fea3a8b3e34da7dbec59c35bf678649bfb2a690bf395b0bbf8f42c63bc49e35bef00db5bfa41a88bea3a764bf28b8233eeaacee3f7d01203f
// arg1 f32 3,2 4251a0be2cfccfbfb015b5bf8de6d7bf12d9393f96db43bf
// arg2 f32 3,2 9134803d523c1fbf41c5ba3d286ab33f9e582fbfb391aebe
// result f32 2,3,4 8e2dc5bef46b16bed4e1253e9bfcdf3fd16c2b405de6ee3ef25dbd3ec100e6bf66b6b4bdffcb95bef20d0340568bc63dc6f68a3e4fb3bf3f19ee4e3ea731cb3f7a89f93b878a3040f6c0803e2c63c4bf23f609bf6b539bbf79543a3fdf958ebf
