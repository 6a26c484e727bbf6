module @by_hand_bits {
 func.func public @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %u: tensor<4xui32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4x4xui8>, tensor<4xui32>, tensor<4x2xui16>, tensor<8xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x3xi32>) {
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<8xf32>
  %1 = chlo.next_after %x, %y : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %2 = stablehlo.bitcast_convert %u : (tensor<4xui32>) -> tensor<4x4xui8>
  %3 = stablehlo.bitcast_convert %2 : (tensor<4x4xui8>) -> tensor<4xui32>
  %4 = stablehlo.bitcast_convert %u : (tensor<4xui32>) -> tensor<4x2xui16>
  %5 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = stablehlo.multiply %p, %q : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %n = stablehlo.add %m, %one : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %6 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<8xf32>) -> tensor<i32>
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %7 = stablehlo.dynamic_reshape %x, %s : (tensor<8xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %t = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %8 = stablehlo.dynamic_iota %t, dim = 1 : (tensor<2xi32>) -> tensor<2x3xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<8xf32>, tensor<8xf32>, tensor<4x4xui8>, tensor<4xui32>, tensor<4x2xui16>, tensor<8xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x3xi32>
 }
}
// bound 0
// arg0 f32 8 0000803fcdcc2cc000e17f4700f07f4759d900330000807fcdcccc3d00000080
// arg1 f32 8 00000040000040c000000000286b6e4e000080bf00000000cdcccc3d0000803f
// arg2 u32 4 ddb8b7d879d56661526f8207401198b6
// result0 f32 8 0000803f00c02cc000e07f470000807f000000000000807f00c0cc3d00000080
// result1 f32 8 0100803fcecc2cc0ffe07f4701f07f4758d90033ffff7f7fcdcccc3d01000000
// result2 u8 4,4 ddb8b7d879d56661526f8207401198b6
// result3 u32 4 ddb8b7d879d56661526f8207401198b6
// result4 u16 4,2 ddb8b7d879d56661526f8207401198b6
// result5 f32 8 000040409a9911410000803f415c6e56ffff7f3f0000c0ffae47813f0000803f
// result6 i32 - 08000000
// result7 f32 2,4 0000803fcdcc2cc000e17f4700f07f4759d900330000807fcdcccc3d00000080
// result8 i32 2,3 000000000100000002000000000000000100000002000000
