module @jit_cond_outside attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<i32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %4 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %5 = stablehlo.compare EQ, %arg2, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %6 = stablehlo.select %5, %cst_0, %arg2 : tensor<i1>, tensor<f32>
        %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
        %8 = stablehlo.select %7, %cst_1, %6 : tensor<i1>, tensor<f32>
        %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %9 = stablehlo.compare EQ, %arg3, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %10 = stablehlo.select %9, %cst_3, %arg3 : tensor<i1>, tensor<f32>
        %11 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
        %12 = stablehlo.select %11, %cst_4, %10 : tensor<i1>, tensor<f32>
        %13 = stablehlo.compare LT, %8, %12, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %13 : tensor<i1>
      }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      stablehlo.return %4 : tensor<4x3xf32>
    }, {
      stablehlo.return %0 : tensor<4x3xf32>
    }) : (tensor<i32>) -> tensor<4x3xf32>
    return %3, %0 : tensor<4x3xf32>, tensor<4x3xf32>
  }
}
// bound 0
// arg0 f32 3,4 5af8813f180e723fbe70c03ea470603fc765f23d9951a03fe4f5d9bc15cf04c0bc3fab3f08e1dc3de6e595bf28fb4abe
// arg1 i32 - 00000000
// result0 f32 4,3 5af8813fc765f23dbc3fab3f180e723f9951a03f08e1dc3dbe70c03ee4f5d9bce6e595bfa470603f15cf04c028fb4abe
// result1 f32 4,3 5af8813fc765f23dbc3fab3f180e723f9951a03f08e1dc3dbe70c03ee4f5d9bce6e595bfa470603f15cf04c028fb4abe
