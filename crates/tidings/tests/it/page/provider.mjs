// A real identity provider for the tests: oidc-provider with its built-in forms.
import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

const [host, port, redirect, alg] = process.argv.slice(2);
const key = alg === 'ES256'
  ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
  : generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...key.privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg };
const provider = new Provider(`http://${host}:${port}`, {
  clients: [{
    client_id: 'tidings',
    client_secret: 'a secret: with + signs',
    redirect_uris: [redirect],
    id_token_signed_response_alg: alg,
  }],
  jwks: { keys: [jwk] },
  pkce: { required: () => true },
  claims: { openid: ['sub'], profile: ['preferred_username'] },
  conformIdTokenClaims: false,
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id }),
  }),
});
provider.listen(Number(port), host, () => console.log('ready'));
