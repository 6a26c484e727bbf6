module @jit_grad_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<5x4xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %1 = stablehlo.tanh %0 : tensor<5x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<5x3xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %5 = stablehlo.multiply %4, %1 : tensor<5x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<5x3xf32>
    %8 = stablehlo.multiply %7, %3 : tensor<5x3xf32>
    %9 = stablehlo.multiply %8, %1 : tensor<5x3xf32>
    %10 = stablehlo.add %8, %9 : tensor<5x3xf32>
    %11 = stablehlo.dot_general %10, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<5x4xf32>) -> tensor<3x4xf32>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    return %12 : tensor<4x3xf32>
  }
}
// bound 2e-06
// arg0 f32 4,3 155aa53e0fdcb1bd61339b3e97a49c3e4a85b43fd85b9bbc575b064025cc61bf46ad313fdc3b80bfc496e83fe03fa9be
// arg1 f32 5,4 e0576ebdca9a6c3f01afa03ffb518ebfc03bb1bed98cb2bfb9990c3e679ccfbd7ba7b2bedc382fbf8895c5bec4133fbf0b6a073fa70ac23ff821f7bf6180edbd9c1ad6bebc17fc3e01a773bf46f315be
// result f32 4,3 ebf7c83e3cc8b4bd1105533d9f9f3b3fde258c3e7e7c31bf410acf3e13b51fbf618f1e40773c073f00ed873e6c1d6fbe
