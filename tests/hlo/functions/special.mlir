module @jit_special attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}) {
    %0 = chlo.erf %arg0 : tensor<8xf32> -> tensor<8xf32>
    %1 = chlo.erfc %arg0 : tensor<8xf32> -> tensor<8xf32>
    %cst = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<8xf32>
    %4 = chlo.erf_inv %3 : tensor<8xf32> -> tensor<8xf32>
    %5 = stablehlo.abs %arg0 : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %7 = stablehlo.add %5, %6 : tensor<8xf32>
    %8 = chlo.lgamma %7 : tensor<8xf32> -> tensor<8xf32>
    %9 = stablehlo.abs %arg0 : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %11 = stablehlo.add %9, %10 : tensor<8xf32>
    %12 = chlo.digamma %11 : tensor<8xf32> -> tensor<8xf32>
    return %0, %1, %4, %8, %12 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
// bound 2e-06
// arg0 f32 8 6448693ff76db8bec2fd6cbfcadeb83f427f2a3f1084603ecf3c6d3f1f01883f
// result0 f32 8 e1704d3f0672c7beab3d4fbfa47a753fa25b273f5e56793ed75b4f3f59f85d3f
// result1 f32 8 803c4a3e81dcb13fd59ee73fa055283dbc48b13e69aa413fa990423e9b1e083e
// result2 f32 8 6e277d3e3fbdc4bde4ac80bec269cf3eb841373e9a096f3d9bd0803e22b7943e
// result3 f32 8 c03ff6bd00a4c83d4083f7bd009fb8bcc03399bde09a733e0095f7bd4003efbd
// result4 f32 8 20644cbdcc8455bf409e10bd8ebec53e1e7faabece5395bf30ad0cbdf83ebf3d
