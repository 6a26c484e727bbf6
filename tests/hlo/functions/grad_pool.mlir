module @jit_grad_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<0> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x2x2xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x2xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<2x2x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x2xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<2x2x2xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.pad %arg0, %cst_2, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = "stablehlo.select_and_scatter"(%6, %5, %cst_3) <{padding = dense<0> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.compare GE, %arg1, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }, {
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<2x4x4xf32>, tensor<2x2x2xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %8 = stablehlo.slice %7 [0:2, 0:4, 0:4] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    return %8 : tensor<2x4x4xf32>
  }
}
// bound 6e-07
// arg0 f32 2,4,4 5b1185bfca5a323f7f50cb3d975925be4689bd3e1f667cbe9be3c6bfca81183f2698933e0bc71dbe0a247c3faaf79b3febcf8bbf9af447bf700dc63ff09cb53f55073dbf822197bfa13723bf1d09ffbeabc2cabf7752ff3ce7dca3bf0cee9abff3856a3f7ee52ebf7c5f92bd750c213f742f503fe78dacbe88b4343dcf4d53bf
// result f32 2,4,4 00000000ca5ab23f0000000000000000000000000000000000000000ca81983f2698133f0000000000000000000000000000000000000000700d4640000000000000000000000000000000001d097fbf0000000077527f3d0000000000000000f385ea3f0000000000000000750ca13f00000000000000000000000000000000
