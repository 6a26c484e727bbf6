// node accept.mjs MODULE FOLDER: every text of a folder as a shader module of Dawn, MODULE its package. Prints what Tint
// says of each, warnings too, and how many it takes without a word. Its adapter that computes nothing offers all features.
import fs from 'fs';
import path from 'path';

const [module, folder] = process.argv.slice(2);
const { create, globals } = await import(path.resolve(module, 'index.js'));
Object.assign(globalThis, globals);
globalThis.gpu = create(['backend=null']); // kept: what comes of it needs it
const working = setInterval(() => {}, 100); // promises of the package alone keep no process alive

const adapter = await gpu.requestAdapter();
if (!adapter) {
    console.log('no adapter');
    process.exit(2);
}
const limits = {};
for (const name of ['maxComputeWorkgroupStorageSize', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX'])
    limits[name] = adapter.limits[name];
const device = await adapter.requestDevice({ requiredLimits: limits, requiredFeatures: ['shader-f16'] });

let accepted = 0, refused = 0;
for (const name of fs.readdirSync(folder)) {
    device.pushErrorScope('validation');
    const shader = device.createShaderModule({ code: fs.readFileSync(path.join(folder, name), 'utf8') });
    const { messages } = await shader.getCompilationInfo();
    const error = await device.popErrorScope();
    if (messages.length || error) {
        refused++;
        for (const m of messages) console.log(`${name}:${m.lineNum}:${m.linePos}: ${m.type}: ${m.message}`);
        if (!messages.length) console.log(`${name}: ${error.message}`);
    } else {
        accepted++;
    }
}
console.log(`${accepted} accepted, ${refused} refused`);
clearInterval(working);
process.exit(0);
