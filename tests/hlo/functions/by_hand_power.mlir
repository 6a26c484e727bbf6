// Written by hand: what JAX does not print.
func.func @main(%arg0: tensor<6xi32>, %arg1: tensor<6xi32>) -> tensor<6xi32> {
  %0 = stablehlo.power %arg0, %arg1 : tensor<6xi32>
  return %0 : tensor<6xi32>
}
// bound 0
// arg0 i32 6 02000000ffffffff03000000ffffffff0000000005000000
// arg1 i32 6 0a000000fdfffffffffffffffeffffff0000000003000000
// result i32 6 00040000ffffffff0000000001000000010000007d000000
