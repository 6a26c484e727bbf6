module @jit_widths attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xi32>) -> (tensor<6xbf16> {jax.result_info = "result[0]"}, tensor<6xf16> {jax.result_info = "result[1]"}, tensor<6xui8> {jax.result_info = "result[2]"}, tensor<6xi8> {jax.result_info = "result[3]"}, tensor<6xi32> {jax.result_info = "result[4]"}, tensor<6xf32> {jax.result_info = "result[5]"}, tensor<6xi1> {jax.result_info = "result[6]"}, tensor<6xf32> {jax.result_info = "result[7]"}, tensor<6xui32> {jax.result_info = "result[8]"}, tensor<6xf32> {jax.result_info = "result[9]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<6xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<6xbf16>
    %3 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<6xf16>
    %5 = stablehlo.add %3, %4 : tensor<6xf16>
    %6 = stablehlo.convert %arg1 : (tensor<6xi32>) -> tensor<6xui8>
    %7 = stablehlo.convert %arg1 : (tensor<6xi32>) -> tensor<6xi8>
    %c = stablehlo.constant dense<3> : tensor<i8>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<6xi8>
    %9 = stablehlo.multiply %7, %8 : tensor<6xi8>
    %10 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xi32>
    %11 = stablehlo.convert %arg1 : (tensor<6xi32>) -> tensor<6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %13 = stablehlo.compare GT, %arg0, %12, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %15 = stablehlo.compare NE, %arg1, %14, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %16 = stablehlo.convert %15 : (tensor<6xi1>) -> tensor<6xf32>
    %17 = stablehlo.bitcast_convert %arg0 : (tensor<6xf32>) -> tensor<6xui32>
    %18 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xbf16>
    %19 = stablehlo.convert %18 : (tensor<6xbf16>) -> tensor<6xf32>
    return %2, %5, %6, %9, %10, %11, %13, %16, %17, %19 : tensor<6xbf16>, tensor<6xf16>, tensor<6xui8>, tensor<6xi8>, tensor<6xi32>, tensor<6xf32>, tensor<6xi1>, tensor<6xf32>, tensor<6xui32>, tensor<6xf32>
  }
}
// bound 0
// arg0 f32 6 d1de07bf40a505bd33fecd3fabdfd9bf8f58843e0f2e68bf
// arg1 i32 6 000000003f0000001f000000430000006000000026000000
// result0 bf16 6 88bf86bd4e405ac0043fe8bf
// result1 f16 6 8237bd3b38419eb9093df82d
// result2 u8 6 003f1f436026
// result3 i8 6 00bd5dc92072
// result4 i32 6 000000000000000001000000ffffffff0000000000000000
// result5 f32 6 0000000000007c420000f841000086420000c04200001842
// result6 u8 6 000001000100
// result7 f32 6 000000000000803f0000803f0000803f0000803f0000803f
// result8 u32 6 d1de07bf40a505bd33fecd3fabdfd9bf8f58843e0f2e68bf
// result9 f32 6 000008bf000006bd0000ce3f0000dabf0000843e000068bf
