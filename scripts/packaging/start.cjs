// The packed executable starts with this file, which becomes the bundle of git mode with its code cache. A cache that
// Node itself would add to the executable differs in each build.
const { getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

const asset = (name) => Buffer.from(getRawAsset(name));
// As asCommonJsFunction() of src/process/load-agtmode.ts.
const source = `(function (exports, require, module, __filename, __dirname) {${asset('main.cjs').toString('latin1')}\n})`;
new Script(source, { filename: 'main.cjs', cachedData: asset('main.cjs.cache') }).runInThisContext()(
  exports,
  require,
  module,
  __filename,
  __dirname,
);
