module @jit_long_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf32>, %arg1: tensor<40x3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<40xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %c, %iterArg_3 = %0, %iterArg_4 = %1) : tensor<40x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<40xf32>
    cond {
      %c_5 = stablehlo.constant dense<40> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<40x3xf32>, tensor<i32>) -> tensor<3xf32>
      %4:2 = func.call @closed_call(%iterArg_1, %iterArg_3, %3) : (tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_4, %4#1, %iterArg_2) : (tensor<40xf32>, tensor<f32>, tensor<i32>) -> tensor<40xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_2, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %6, %4#0, %5 : tensor<40x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<40xf32>
    }
    return %2#3, %2#4 : tensor<3xf32>, tensor<40xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<40x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<40x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<3xf32>
    %2 = stablehlo.tanh %1 : tensor<3xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3 : tensor<3xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<40xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<40xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<40xf32>, tensor<1xf32>, tensor<i32>) -> tensor<40xf32>
    return %1 : tensor<40xf32>
  }
}
// bound 6e-07
// arg0 f32 3,3 797493bd7cf8b3be4c70ddbe746ec9bd48a9dfbecb128a3ea00cb13e1345593fdae8863e
// arg1 f32 40,3 fec417bf70255fbf1de95cc0a84a18bfa43835be37c2773fd4911c3f179e163f32c15a3e6631293ff54ab93fe34d88bf4723eabe67bbb1bf4330cf3fcfffa53fb295403f226a99bf7118313e4d4570bea788a53d0aa240bea11b053f7428cabe22c55a3f3730773e140e96be6113e5bdac94e1beb45a503f65fd8abee0fb963e41e9c8bed117bebf75f6673fb17087bf7edd2d3f441ed73ee7f8d3bfa7d671bf199c03bf941a52bf184e97bfe9763d3fe74075be3c79c53e9b6bdcbe07549c3e6d4b40bfb539d9bcd9f3143f469e383d5a0aeabee3178bbffaa72b3eb29cb03eb14784be2df244bfb9e60a3facd41e404cdc9abe1d69ac3ea739c13ef64024c08babfd3d69de34bf753db13f6e0a82be960c47bf4abe5fbefb8e2a3ef9550fbfedb457bd1c55adbfd7a866be7f92463fd60dfc3f29de343fea3a8b3ea485973f2772823fccf8d43f78948a3f7662f1bd3f53843e0c76373efdb19a3ef9204d3e414d48bff8a106c021f32bbf8daa01c0252e8b3dfba5943b3a79d6bfca2b303f69ea5d3ff14dc43d1776d53fbd92ef3f035e9abfc1b2843fd0b6e13e022ed63ef4376f3f611b38bfb8a517bfc9a053bf484141bf85c0c9bd60d5b9bf65da85bfe5d8133fe65491bda612c43e4ad3f1bf9caa48bf2e300ebf3a43053db81616bf
// result0 f32 3 8ce85a3d554e623edadb64bf
// result1 f32 40 000000005a2d08bf5a5ef83d9a0b153f847c553f9c6a7b3ffb2e673fcdcc353fdaec443fab17353f9811353f3930133f3c0c023f82a3323ff6ea0dbfe5663b3f5fd0f73e8bc0b53e903712bef0c9123fee0d7e3f9fb1083f391abb3d9a846a3fc9a4253e95424c3ee4737a3f07b4783fea4b4d3f7e3f623fdbcafbbd4386b8bdd89b063f4d735a3ff1e5723fe4113e3f9d9e813d4fee8d3e448f6e3ee747d83e
