/** Why a broker does not start. The message is one line that names the setting or file and says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
