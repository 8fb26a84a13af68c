// A real S3 server for the tests of the continuous copy, in Node, because its continuation tokens need old ciphers. It
// ends with its standard input. Arguments: its folder, and a port or 0.
import S3rver from '@20minutes/s3rver';

const [directory = '', port = '0'] = process.argv.slice(2);
const server = new S3rver({
  address: '127.0.0.1',
  port: Number(port),
  directory,
  silent: true,
  // The server treats /bucket/ as /bucket when it checks the signature of a list.
  allowMismatchedSignatures: true,
  configureBuckets: [{ name: 'copies', configs: [] }],
});
console.log(JSON.stringify(await server.run()));
process.stdin.resume();
process.stdin.on('end', () => process.exit());
