module @jit_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xi32>, %arg1: tensor<9xi32>) -> (tensor<9xi32> {jax.result_info = "result[0]"}, tensor<9xi32> {jax.result_info = "result[1]"}, tensor<9xi32> {jax.result_info = "result[2]"}, tensor<9xi32> {jax.result_info = "result[3]"}, tensor<9xi32> {jax.result_info = "result[4]"}, tensor<9xi32> {jax.result_info = "result[5]"}, tensor<9xi32> {jax.result_info = "result[6]"}, tensor<9xi32> {jax.result_info = "result[7]"}, tensor<9xi32> {jax.result_info = "result[8]"}, tensor<9xi32> {jax.result_info = "result[9]"}, tensor<9xi32> {jax.result_info = "result[10]"}, tensor<9xi32> {jax.result_info = "result[11]"}, tensor<9xi32> {jax.result_info = "result[12]"}, tensor<9xi32> {jax.result_info = "result[13]"}) {
    %0 = call @floor_divide(%arg0, %arg1) : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    %1 = call @remainder(%arg0, %arg1) : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    %2 = stablehlo.and %arg0, %arg1 : tensor<9xi32>
    %3 = stablehlo.not %arg1 : tensor<9xi32>
    %4 = stablehlo.or %arg0, %3 : tensor<9xi32>
    %5 = stablehlo.xor %arg0, %arg1 : tensor<9xi32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %7 = stablehlo.shift_left %arg0, %6 : tensor<9xi32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %9 = stablehlo.shift_right_arithmetic %arg0, %8 : tensor<9xi32>
    %10 = stablehlo.abs %arg0 : tensor<9xi32>
    %11 = stablehlo.popcnt %arg0 : tensor<9xi32>
    %12 = stablehlo.count_leading_zeros %arg0 : tensor<9xi32>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %14 = stablehlo.shift_right_logical %arg0, %13 : tensor<9xi32>
    %15 = stablehlo.minimum %arg0, %arg1 : tensor<9xi32>
    %16 = stablehlo.divide %arg0, %arg1 : tensor<9xi32>
    %17 = stablehlo.remainder %arg0, %arg1 : tensor<9xi32>
    return %0, %1, %2, %4, %5, %7, %9, %10, %11, %12, %14, %15, %16, %17 : tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>
  }
  func.func private @floor_divide(%arg0: tensor<9xi32>, %arg1: tensor<9xi32>) -> tensor<9xi32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<9xi32>
    %1 = stablehlo.sign %arg0 : tensor<9xi32>
    %2 = stablehlo.sign %arg1 : tensor<9xi32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %7 = stablehlo.and %3, %6 : tensor<9xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %9 = stablehlo.subtract %0, %8 : tensor<9xi32>
    %10 = call @_where(%7, %9, %0) : (tensor<9xi1>, tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    return %10 : tensor<9xi32>
  }
  func.func private @_where(%arg0: tensor<9xi1>, %arg1: tensor<9xi32>, %arg2: tensor<9xi32>) -> tensor<9xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<9xi1>, tensor<9xi32>
    return %0 : tensor<9xi32>
  }
  func.func private @remainder(%arg0: tensor<9xi32>, %arg1: tensor<9xi32>) -> tensor<9xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %1 = stablehlo.compare EQ, %arg1, %0, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %3 = call @_where(%1, %2, %arg1) : (tensor<9xi1>, tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<9xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %10 = stablehlo.compare LT, %3, %9, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<9xi1>, tensor<9xi1>) -> tensor<9xi1>
    %12 = stablehlo.and %11, %6 : tensor<9xi1>
    %13 = stablehlo.add %4, %3 : tensor<9xi32>
    %14 = stablehlo.select %12, %13, %4 : tensor<9xi1>, tensor<9xi32>
    return %14 : tensor<9xi32>
  }
}
// bound 6e-07
// arg0 i32 9 daffffff09000000f7ffffff19000000f2ffffffd7ffffffffffffff28000000eaffffff
// arg1 i32 9 03000000f9ffffff0100000005000000feffffff09000000ffffffff0400000008000000
// result0 i32 9 f3fffffffefffffff7ffffff0500000007000000fbffffff010000000a000000fdffffff
// result1 i32 9 01000000fbffffff00000000000000000000000004000000000000000000000002000000
// result2 i32 9 02000000090000000100000001000000f2ffffff01000000ffffffff0000000008000000
// result3 i32 9 feffffff0f000000fffffffffbfffffff3fffffff7fffffffffffffffbffffffffffffff
// result4 i32 9 d9fffffff0fffffff6ffffff1c0000000c000000deffffff000000002c000000e2ffffff
// result5 i32 9 d0feffff48000000b8ffffffc800000090ffffffb8fefffff8ffffff4001000050ffffff
// result6 i32 9 f6ffffff02000000fdffffff06000000fcfffffff5ffffffffffffff0a000000faffffff
// result7 i32 9 260000000900000009000000190000000e00000029000000010000002800000016000000
// result8 i32 9 1d000000020000001f000000030000001d0000001e00000020000000020000001d000000
// result9 i32 9 000000001c000000000000001b0000000000000000000000000000001a00000000000000
// result10 i32 9 feffff0700000000ffffff0700000000ffffff07feffff07ffffff0701000000ffffff07
// result11 i32 9 dafffffff9fffffff7ffffff05000000f2ffffffd7ffffffffffffff04000000eaffffff
// result12 i32 9 f4fffffffffffffff7ffffff0500000007000000fcffffff010000000a000000feffffff
// result13 i32 9 feffffff02000000000000000000000000000000fbffffff0000000000000000faffffff
