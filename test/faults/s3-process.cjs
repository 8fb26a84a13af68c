// A real S3 server for the tests of the continuous copy, in Node, which its continuation tokens need an old cipher of. It ends with its
// standard input. Arguments: its folder, and a port or 0.
const S3rver = require('@20minutes/s3rver');

const [directory, port] = process.argv.slice(2);
const server = new S3rver({
  address: '127.0.0.1',
  port: Number(port),
  directory,
  silent: true,
  // It takes /bucket/ for /bucket when it checks the signature of a list.
  allowMismatchedSignatures: true,
  configureBuckets: [{ name: 'copies', configs: [] }],
});
server.run().then((address) => console.log(JSON.stringify(address)));
process.stdin.resume();
process.stdin.on('end', () => process.exit());
