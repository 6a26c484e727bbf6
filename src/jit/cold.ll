; What objects rarely run: faults, handles, time. A module keeps the functions that it calls.
; preserve_allcc: the kernel's vectors stay in registers around a call that rarely happens. LLVM 19 would clear their upper halves on the way back.
; What they do: the functions of the same names in include/hologram/vector.h; offsets: cold.c.

declare i64 @llvm.cttz.i64(i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
; More fuel, or true to stop.
define internal preserve_allcc i1 @hgv_go_on(ptr %launch, i64 %run) noinline cold nounwind "target-features"="-vzeroupper" {
  %sp = getelementptr i8, ptr %launch, i64 104
  %s = load i8, ptr %sp
  %is = icmp ne i8 %s, 0
  br i1 %is, label %stop, label %ask
ask:
  %fp = getelementptr i8, ptr %launch, i64 88
  %f = load ptr, ptr %fp
  %more = call zeroext i1 %f(ptr %launch)
  br i1 %more, label %out, label %stop
stop:
  store i8 1, ptr %sp
  br label %out
out:
  %now = load i8, ptr %sp
  %stopped = icmp ne i8 %now, 0
  %none = icmp eq i64 %run, 0
  %r = or i1 %stopped, %none
  ret i1 %r
}

define internal preserve_allcc void @hgv_fault(ptr %launch, ptr %site, i64 %lane, ptr %values) noinline cold nounwind "target-features"="-vzeroupper" {
  %fp = getelementptr i8, ptr %launch, i64 72
  %f = load ptr, ptr %fp
  call void %f(ptr %launch, ptr %site, i64 %lane, ptr %values)
  ret void
}

define internal i32 @hgv_coordinate(ptr %launch, i32 %id, i64 %lane) nounwind {
  %xp = getelementptr i8, ptr %launch, i64 60
  %yp = getelementptr i8, ptr %launch, i64 64
  %zp = getelementptr i8, ptr %launch, i64 68
  %gxp = getelementptr i8, ptr %launch, i64 48
  %gyp = getelementptr i8, ptr %launch, i64 52
  %x32 = load i32, ptr %xp
  %y32 = load i32, ptr %yp
  %z32 = load i32, ptr %zp
  %gx32 = load i32, ptr %gxp
  %gy32 = load i32, ptr %gyp
  %x = zext i32 %x32 to i64
  %y = zext i32 %y32 to i64
  %z = zext i32 %z32 to i64
  %gx = zext i32 %gx32 to i64
  %gy = zext i32 %gy32 to i64
  %xy = mul i64 %x, %y
  %xyz = mul i64 %xy, %z
  %block = udiv i64 %lane, %xyz
  %taken = mul i64 %block, %xyz
  %in = sub i64 %lane, %taken
  %of_block = icmp uge i32 %id, 3
  %n = select i1 %of_block, i64 %block, i64 %in
  %a = select i1 %of_block, i64 %gx, i64 %x
  %b = select i1 %of_block, i64 %gy, i64 %y
  %axis3 = sub i32 %id, 3
  %axis = select i1 %of_block, i32 %axis3, i32 %id
  %q = udiv i64 %n, %a
  %qa = mul i64 %q, %a
  %r0 = sub i64 %n, %qa
  %q2 = udiv i64 %q, %b
  %q2b = mul i64 %q2, %b
  %r1 = sub i64 %q, %q2b
  %is0 = icmp eq i32 %axis, 0
  %is1 = icmp eq i32 %axis, 1
  %r12 = select i1 %is1, i64 %r1, i64 %q2
  %r = select i1 %is0, i64 %r0, i64 %r12
  %r32 = trunc i64 %r to i32
  ret i32 %r32
}

; index: of each lane; null: lane i's is start + i * stride
define internal preserve_allcc i64 @hgv_check(ptr %launch, ptr %site, ptr %m, i64 %first, ptr %index, i64 %start, i64 %stride, i64 %disp, i64 %bits) noinline cold nounwind "target-features"="-vzeroupper" {
entry:
  %at = alloca [40 x i8], align 8
  %values = alloca [2 x i64], align 8
  %high_value = getelementptr i8, ptr %values, i64 8
  %limit = getelementptr i8, ptr %at, i64 32
  %handle = getelementptr i8, ptr %at, i64 24
  %bytes_p = getelementptr i8, ptr %site, i64 8
  %bytes = load i32, ptr %bytes_p
  %input_p = getelementptr i8, ptr %site, i64 12
  %input = load i32, ptr %input_p
  %size_p = getelementptr i8, ptr %m, i64 8
  %size = load i64, ptr %size_p
  %valid_p = getelementptr i8, ptr %m, i64 16
  %valid8 = load i8, ptr %valid_p
  %valid = icmp ne i8 %valid8, 0
  %b128 = zext i32 %bytes to i128
  %s128 = zext i64 %size to i128
  %d128 = sext i64 %disp to i128
  %some = icmp ne i64 %bits, 0
  br i1 %some, label %lane, label %none
none:
  ret i64 0
lane:
  %rest = phi i64 [ %bits, %entry ], [ %less, %next ]
  %left = phi i64 [ %bits, %entry ], [ %still, %next ]
  %i = call i64 @llvm.cttz.i64(i64 %rest, i1 true)
  %listed = icmp ne ptr %index, null
  br i1 %listed, label %list, label %row
list:
  %p = getelementptr i64, ptr %index, i64 %i
  %listed.x = load i64, ptr %p, align 8
  br label %look
row:
  %far = mul i64 %i, %stride
  %row.x = add i64 %start, %far
  br label %look
look:
  %x = phi i64 [ %listed.x, %list ], [ %row.x, %row ]
  %x128 = zext i64 %x to i128
  %offset = add i128 %x128, %d128
  %end = add i128 %offset, %b128
  %from = icmp sge i128 %offset, 0
  %to = icmp sle i128 %end, %s128
  %in = and i1 %from, %to
  %good = and i1 %in, %valid
  br i1 %good, label %next, label %fault
fault:
  %low = trunc i128 %offset to i64
  %shifted = lshr i128 %offset, 64
  %high = trunc i128 %shifted to i64
  store i64 %low, ptr %values
  store i64 %high, ptr %high_value
  call void @llvm.memcpy.p0.p0.i64(ptr %at, ptr %site, i64 40, i1 false)
  store i64 %size, ptr %limit
  %named = icmp sge i32 %input, 0
  br i1 %named, label %name, label %known
name:
  %inputs = load ptr, ptr %launch
  %input64 = zext i32 %input to i64
  %handle_p = getelementptr i64, ptr %inputs, i64 %input64
  %h = load i64, ptr %handle_p
  store i64 %h, ptr %handle
  br label %known
known:
  %code0 = load i8, ptr %at
  %code = select i1 %valid, i8 %code0, i8 3
  store i8 %code, ptr %at
  %fp = getelementptr i8, ptr %launch, i64 72
  %f = load ptr, ptr %fp
  %who = add i64 %first, %i
  call void %f(ptr %launch, ptr %at, i64 %who, ptr %values)
  %bit = shl i64 1, %i
  %others = xor i64 %bit, -1
  %kept = and i64 %left, %others
  br label %next
next:
  %still = phi i64 [ %left, %look ], [ %kept, %known ]
  %minus = add i64 %rest, -1
  %less = and i64 %rest, %minus
  %more = icmp ne i64 %less, 0
  br i1 %more, label %lane, label %out
out:
  ret i64 %still
}

; handle, pool and at are changed in place for a flat address.
define internal void @hgv_find(ptr %m, ptr %launch, ptr %handle, ptr %pool, i1 %flat, ptr %at) noinline nounwind {
entry:
  %h0 = load i64, ptr %handle
  %p0 = load i8, ptr %pool
  br i1 %flat, label %split, label %ask
split:
  %low = and i64 %h0, 1099511627775
  store i64 %low, ptr %at
  %top = lshr i64 %h0, 63
  %p1 = trunc i64 %top to i8
  store i8 %p1, ptr %pool
  %mid = lshr i64 %h0, 40
  %h1 = and i64 %mid, 8388607
  store i64 %h1, ptr %handle
  br label %ask
ask:
  %h = phi i64 [ %h0, %entry ], [ %h1, %split ]
  %p8 = phi i8 [ %p0, %entry ], [ %p1, %split ]
  %p = trunc i8 %p8 to i1
  %fp = getelementptr i8, ptr %launch, i64 80
  %f = load ptr, ptr %fp
  call void %f(ptr sret([24 x i8]) align 8 %m, ptr %launch, i64 %h, i1 zeroext %p, i1 zeroext %flat)
  ret void
}

define internal ptr @hgv_base(ptr %launch, i64 %handle, i1 %pool, i1 %flat, ptr %at) noinline nounwind {
  %m = alloca [24 x i8], align 8
  %h = alloca i64, align 8
  %p = alloca i8, align 1
  store i64 %handle, ptr %h
  %p8 = zext i1 %pool to i8
  store i8 %p8, ptr %p
  call void @hgv_find(ptr %m, ptr %launch, ptr %h, ptr %p, i1 %flat, ptr %at)
  %base = load ptr, ptr %m
  ret ptr %base
}

define internal i64 @hgv_check_open(ptr %launch, ptr %site, i1 %flat, i64 %first, ptr %handles, ptr %index, i64 %disp, i64 %bits) noinline nounwind {
entry:
  %one = alloca [40 x i8], align 8
  %m = alloca [24 x i8], align 8
  %h = alloca i64, align 8
  %at = alloca i64, align 8
  %p = alloca i8, align 1
  %pool_p = getelementptr i8, ptr %site, i64 2
  %pool = load i8, ptr %pool_p
  %one_pool = getelementptr i8, ptr %one, i64 2
  %one_input = getelementptr i8, ptr %one, i64 12
  %one_handle = getelementptr i8, ptr %one, i64 24
  %some = icmp ne i64 %bits, 0
  br i1 %some, label %lane, label %none
none:
  ret i64 0
lane:
  %rest = phi i64 [ %bits, %entry ], [ %less, %lane ]
  %left = phi i64 [ 0, %entry ], [ %still, %lane ]
  %i = call i64 @llvm.cttz.i64(i64 %rest, i1 true)
  %handle_p = getelementptr i64, ptr %handles, i64 %i
  %handle = load i64, ptr %handle_p, align 8
  store i64 %handle, ptr %h
  %index_p = getelementptr i64, ptr %index, i64 %i
  %x = load i64, ptr %index_p, align 8
  store i64 %x, ptr %at
  store i8 %pool, ptr %p
  call void @hgv_find(ptr %m, ptr %launch, ptr %h, ptr %p, i1 %flat, ptr %at)
  call void @llvm.memcpy.p0.p0.i64(ptr %one, ptr %site, i64 40, i1 false)
  store i32 -1, ptr %one_input
  %h2 = load i64, ptr %h
  store i64 %h2, ptr %one_handle
  %p2 = load i8, ptr %p
  store i8 %p2, ptr %one_pool
  %who = add i64 %first, %i
  %good = call preserve_allcc i64 @hgv_check(ptr %launch, ptr %one, ptr %m, i64 %who, ptr %at, i64 0, i64 0, i64 %disp, i64 1)
  %bit = shl i64 %good, %i
  %still = or i64 %left, %bit
  %minus = add i64 %rest, -1
  %less = and i64 %rest, %minus
  %more = icmp ne i64 %less, 0
  br i1 %more, label %lane, label %out
out:
  ret i64 %still
}

; Runs the blocks of lanes begin to end - 1. x, y, z: of the block in the grid.
define internal void @hgv_blocks(ptr %launch, i64 %begin, i64 %end, ptr %run) nounwind {
entry:
  %xp = getelementptr i8, ptr %launch, i64 60
  %yp = getelementptr i8, ptr %launch, i64 64
  %zp = getelementptr i8, ptr %launch, i64 68
  %gxp = getelementptr i8, ptr %launch, i64 48
  %gyp = getelementptr i8, ptr %launch, i64 52
  %stopped_p = getelementptr i8, ptr %launch, i64 104
  %base_p = getelementptr i8, ptr %launch, i64 128
  %size_p = getelementptr i8, ptr %launch, i64 136
  %step_p = getelementptr i8, ptr %launch, i64 152
  %phase_p = getelementptr i8, ptr %launch, i64 168
  %faulted_p = getelementptr i8, ptr %launch, i64 176
  %x32 = load i32, ptr %xp
  %y32 = load i32, ptr %yp
  %z32 = load i32, ptr %zp
  %gx = load i32, ptr %gxp
  %gy = load i32, ptr %gyp
  %x = zext i32 %x32 to i64
  %y = zext i32 %y32 to i64
  %z = zext i32 %z32 to i64
  %gx64 = zext i32 %gx to i64
  %gy64 = zext i32 %gy to i64
  %xy = mul i64 %x, %y
  %lanes = mul i64 %xy, %z
  %step = load i64, ptr %step_p
  %size = load i64, ptr %size_p
  %unstepped = icmp eq i64 %step, 0
  %sized = icmp ne i64 %size, 0
  %clears = and i1 %unstepped, %sized
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %start, label %out
start:
  %number = udiv i64 %begin, %lanes
  %row = udiv i64 %number, %gx64
  %i64 = urem i64 %number, %gx64
  %k64 = udiv i64 %row, %gy64
  %j64 = urem i64 %row, %gy64
  %i0 = trunc i64 %i64 to i32
  %j0 = trunc i64 %j64 to i32
  %k0 = trunc i64 %k64 to i32
  br label %block
block:
  %first = phi i64 [ %begin, %start ], [ %last, %next ]
  %i = phi i32 [ %i0, %start ], [ %i2, %next ]
  %j = phi i32 [ %j0, %start ], [ %j2, %next ]
  %k = phi i32 [ %k0, %start ], [ %k2, %next ]
  %left = sub i64 %end, %first
  %whole = icmp uge i64 %left, %lanes
  %full = add i64 %first, %lanes
  %last = select i1 %whole, i64 %full, i64 %end
  store i64 0, ptr %phase_p
  store i8 0, ptr %faulted_p
  br i1 %clears, label %clear, label %go
clear:
  %base = load ptr, ptr %base_p
  call void @llvm.memset.p0.i64(ptr %base, i8 0, i64 %size, i1 false)
  br label %go
go:
  call void %run(ptr %launch, i64 %first, i64 %last, i32 %i, i32 %j, i32 %k)
  %stopped = load i8, ptr %stopped_p
  %faulted = load i8, ptr %faulted_p
  %phase = load i64, ptr %phase_p
  %over = icmp ne i8 %stopped, 0
  %fault = icmp ne i8 %faulted, 0
  %early = icmp eq i64 %phase, 0
  %quits = and i1 %fault, %early
  %ends = or i1 %over, %quits
  %more = icmp ult i64 %last, %end
  %none = xor i1 %more, true
  %leave = or i1 %ends, %none
  br i1 %leave, label %out, label %next
next:
  %old = load ptr, ptr %base_p
  %new = getelementptr i8, ptr %old, i64 %step
  store ptr %new, ptr %base_p
  %i1 = add i32 %i, 1
  %in_row = icmp ult i32 %i1, %gx
  %i2 = select i1 %in_row, i32 %i1, i32 0
  %row_over = xor i1 %in_row, true
  %carry = zext i1 %row_over to i32
  %j1 = add i32 %j, %carry
  %in_plane = icmp ult i32 %j1, %gy
  %j2 = select i1 %in_plane, i32 %j1, i32 0
  %plane_over = xor i1 %in_plane, true
  %carry2 = zext i1 %plane_over to i32
  %k2 = add i32 %k, %carry2
  br label %block
out:
  ret void
}

; Turns of a block of which `lanes` lanes start; n: lanes of a turn.
define internal i64 @hgv_turns(ptr %launch, i64 %lanes, i64 %n) nounwind {
  %xp = getelementptr i8, ptr %launch, i64 60
  %x32 = load i32, ptr %xp
  %x = zext i32 %x32 to i64
  %rows = udiv i64 %lanes, %x
  %rest = urem i64 %lanes, %x
  %less = sub i64 %n, 1
  %x1 = add i64 %x, %less
  %each = udiv i64 %x1, %n
  %r1 = add i64 %rest, %less
  %few = udiv i64 %r1, %n
  %most = mul i64 %rows, %each
  %all = add i64 %most, %few
  ret i64 %all
}

; The lanes of each turn that start, as the first word of what it keeps.
define internal void @hgv_start_turns(ptr %launch, ptr %all, i64 %size, i64 %begin, i64 %end, i64 %turns, i64 %n) nounwind {
entry:
  %xp = getelementptr i8, ptr %launch, i64 60
  %x32 = load i32, ptr %xp
  %x = zext i32 %x32 to i64
  %some = icmp ne i64 %turns, 0
  br i1 %some, label %turn, label %out
turn:
  %number = phi i64 [ 0, %entry ], [ %number2, %turn ]
  %first = phi i64 [ %begin, %entry ], [ %first2, %turn ]
  %at = phi i64 [ 0, %entry ], [ %at2, %turn ]
  %row = sub i64 %x, %at
  %left = sub i64 %end, %first
  %row_less = icmp ult i64 %row, %left
  %lanes = select i1 %row_less, i64 %row, i64 %left
  %full = icmp uge i64 %lanes, %n
  %taken = select i1 %full, i64 %n, i64 %lanes
  %missing = sub i64 64, %taken
  %shift = and i64 %missing, 63
  %run = lshr i64 -1, %shift
  %byte = mul i64 %number, %size
  %place = getelementptr i8, ptr %all, i64 %byte
  store i64 %run, ptr %place
  %row_full = icmp ult i64 %n, %row
  %step = select i1 %row_full, i64 %n, i64 %row
  %first2 = add i64 %first, %step
  %at1 = add i64 %at, %n
  %at2 = select i1 %row_full, i64 %at1, i64 0
  %number2 = add i64 %number, 1
  %more = icmp ult i64 %number2, %turns
  br i1 %more, label %turn, label %out
out:
  ret void
}
