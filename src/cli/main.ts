import { Command } from 'commander'
import { addStart } from './start.ts'

const program = new Command('millrace').description('A distributed message queue that speaks the Kafka protocol.')
addStart(program)
await program.parseAsync()
