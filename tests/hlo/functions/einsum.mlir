module @jit_einsum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<3x5xf32>) -> (tensor<2x3x2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf32>, tensor<2x4x5xf32>) -> tensor<3x2x4xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<3x2x4xf32>, tensor<2x3x4xf32>) -> tensor<3x2x2x3xf32>
    %2 = stablehlo.transpose %1, dims = [2, 3, 1, 0] : (tensor<3x2x2x3xf32>) -> tensor<2x3x2x3xf32>
    return %2 : tensor<2x3x2x3xf32>
  }
}
// bound 6e-07
// arg0 f32 2,3,4 881c8e3e2b370dc00671d3bd5ef4253f045143bfb8f2b83d5a3218c06ae02b3f329529bf40115f3f6ce0ebbf7038313f36a072be1fbf4e3f51fb6cbf33531ebf53840f40be7754bf33be34bf299c8dbe34e382bfe360983f3ccddc3f4c4034bf
// arg1 f32 2,4,5 9feedcbf5a03963fbedf8d3f4258523f9108943f23165ebf538a2cbe812ab1bf5c86b5bf75297b3f82022cbf80e41140beeb973de1f223bf34424c3fc48fe63f28e6f83e6acb9bbf14f4bd3e9913b03f148afcbe660d46bff71a823fb4530f3e1a208dbf266ec2be197341bf87b0973e46a2e03dd941933f9cac353fe221c8bf1061d03e5b9d653f0269e93effd8833f14b10cbfb76973bf12196e3f256188bf
// arg2 f32 3,5 dd350ac0073d833f2f6439bfb6b49cbefdf0b2bfe3aaa9bf1a0b94bf19a7b8be8570bd3e570f13c06c8e403fb74b97bfe77c88bfee872d3fadd998bd
// result f32 2,3,2,3 b538d0c0fa08d1bfebd76a3f34db8440736cb14005e2873f19f834c10a4ad74008e45041575d0c41c12bb2bf063065c089ae04c191126940aeb62b4156d0a340580f00c045d7fdbf5b618c3f7a02d54031393a40ad5d374023855dc08d087ec05793374032e76f3ff5c2b1c02658e44080270e411ab16cc0c134fb40cfe9fdbf8ccc93c0433021c18cf0e3c0d7a93540
